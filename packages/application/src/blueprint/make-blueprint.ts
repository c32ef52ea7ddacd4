import {
  type BlueprintBundle,
  BlueprintExists,
  type BlueprintId,
  type BlueprintText,
  blueprintTextIssues,
  InvalidInput,
  isBlueprintId,
  type Picture,
  type RecordId,
  type User,
} from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { newRecordId } from "../accounts/identity.ts"
import { readRangeConfig, refusedConfig } from "../range/read-config.ts"
import { holdBundle } from "./bundle.ts"
import { releaseBundles } from "./forget-blueprint.ts"
import { installForNew } from "./install-dependencies.ts"
import { keepingBlueprint } from "./keep-blueprint.ts"
import { requiredByConfig } from "./required-by-config.ts"

/** The ID for a new blueprint, checked to be valid and free. */
export const freeBlueprintId = (text: string) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const id = text.trim()
    if (!isBlueprintId(id))
      return yield* new InvalidInput({
        what: "Blueprint ID must be a valid ID",
        issues: [
          {
            path: "blueprintID",
            message: "the ID is not allowed",
            allowed: "a letter, then letters, digits, _ and -; up to two further parts after /; 255 characters at most",
          },
        ],
      })
    if ((yield* blueprints.find(id)) !== undefined) return yield* new BlueprintExists({ blueprint: id })
    return id
  })

/** Fails with all problems of these members. `doing` completes "Cannot …". */
export const checkBlueprintText = (doing: string, text: Partial<BlueprintText>): Effect.Effect<void, InvalidInput> => {
  const issues = blueprintTextIssues(text)
  return issues.length === 0
    ? Effect.void
    : Effect.fail(
        new InvalidInput({ what: `Cannot ${doing}: ${issues.map((i) => `${i.path}: ${i.message}`).join("; ")}`, issues }),
      )
}

/** The text, if it is a valid range configuration. Whether its templates and roles exist is checked when it is applied. */
export const wellFormedConfig = (text: string) =>
  Effect.gen(function* () {
    const parsed = yield* readRangeConfig(text)
    return Result.isSuccess(parsed) ? text : yield* refusedConfig(parsed.failure)
  })

/** The content of a blueprint, without its description of itself. */
export interface BlueprintContent {
  readonly config: string
  readonly requirements: string | undefined
  readonly bundle: BlueprintBundle | undefined
  readonly thumbnail: Picture | undefined
}

/**
 * Creates a blueprint of the user's, shared with nobody. Its files are pinned before the blueprint exists, and released if creation fails.
 * `chosen`: the record ID; absent for a new one.
 */
export const makeBlueprint = (
  id: BlueprintId,
  text: BlueprintText,
  { config, requirements, bundle, thumbnail }: BlueprintContent,
  owner: User,
  chosen?: RecordId,
) =>
  Effect.gen(function* () {
    yield* checkBlueprintText(`create blueprint ${id}`, text)
    const createdAt = new Date(yield* Clock.currentTimeMillis)
    const { name, description, version, tags, minVersion } = text
    const said = { name, description, version, tags, minVersion }
    const recordId = chosen ?? (yield* newRecordId)
    const { create } = yield* Blueprints
    const made = { ...said, id, recordId, owner: owner.id, config, requirements, bundle, thumbnail, createdAt }
    return yield* Effect.andThen(holdBundle(recordId, bundle), create(made)).pipe(
      keepingBlueprint(`create blueprint ${id}`, made),
      Effect.onError(() => releaseBundles(recordId)),
    )
  })

/**
 * Creates a blueprint from a configuration alone, with the requirements of its roles, and installs those as far as they are available;
 * returns the outcome of each.
 */
export const makeFromConfig = (id: BlueprintId, text: BlueprintText, config: string, owner: User) =>
  Effect.gen(function* () {
    const requirements = yield* requiredByConfig(`create blueprint ${id}`, config, owner.id)
    const content = { config, requirements, bundle: undefined, thumbnail: undefined }
    const blueprint = yield* makeBlueprint(id, text, content, owner)
    return requirements === undefined ? [] : yield* installForNew(blueprint, owner)
  })
