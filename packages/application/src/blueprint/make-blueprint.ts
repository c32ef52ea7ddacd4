import {
  BlueprintExists,
  type BlueprintId,
  type BlueprintText,
  blueprintTextIssues,
  InvalidInput,
  isBlueprintId,
  type Picture,
  type User,
} from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { newRecordId } from "../accounts/identity.ts"
import { readRangeConfig, refusedConfig } from "../range/read-config.ts"

/** The id for a new blueprint: allowed, and not in use. */
export const freeBlueprintId = (text: string) =>
  Effect.gen(function* () {
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
    if ((yield* (yield* Blueprints).find(id)) !== undefined) return yield* new BlueprintExists({ blueprint: id })
    return id
  })

/** Fails with everything that is wrong with these members. `doing` completes "Cannot …". */
export const checkBlueprintText = (doing: string, text: Partial<BlueprintText>): Effect.Effect<void, InvalidInput> => {
  const issues = blueprintTextIssues(text)
  return issues.length === 0
    ? Effect.void
    : Effect.fail(
        new InvalidInput({ what: `Cannot ${doing}: ${issues.map((i) => `${i.path}: ${i.message}`).join("; ")}`, issues }),
      )
}

/** The text, when it is a range configuration. Whether its templates and roles are there is asked when it is applied. */
export const wellFormedConfig = (text: string) =>
  Effect.gen(function* () {
    const parsed = yield* readRangeConfig(text)
    return Result.isSuccess(parsed) ? text : yield* refusedConfig(parsed.failure)
  })

/** Makes a blueprint of the user's, shared with nobody. */
export const makeBlueprint = (id: BlueprintId, text: BlueprintText, config: string, owner: User, thumbnail?: Picture) =>
  Effect.gen(function* () {
    yield* checkBlueprintText(`create blueprint ${id}`, text)
    const createdAt = new Date(yield* Clock.currentTimeMillis)
    const { name, description, version, tags, minVersion } = text
    const said = { name, description, version, tags, minVersion }
    const recordId = yield* newRecordId
    return yield* (yield* Blueprints).create({
      ...said,
      id,
      recordId,
      owner: owner.id,
      config,
      requirements: undefined,
      bundle: undefined,
      thumbnail,
      createdAt,
    })
  })
