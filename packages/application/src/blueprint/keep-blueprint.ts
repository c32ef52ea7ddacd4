import { type Blueprint, blueprintBytes, type BlueprintDraft, keptRow, type Picture } from "@rangewright/domain"
import { Blueprints, type NewBlueprint } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { keeping } from "../disk/keeping.ts"
import { nameOfBlueprint } from "../disk/kept.ts"

/** Stores a blueprint with its files, unless that exceeds its owner's disk limit. `doing` completes "Cannot …". */
export const keepingBlueprint = (
  doing: string,
  {
    recordId,
    owner,
    bundle,
    config,
    requirements,
    thumbnail,
  }: Pick<BlueprintDraft, "recordId" | "owner"> & Pick<NewBlueprint, "bundle" | "config" | "requirements" | "thumbnail">,
) =>
  keeping({
    owner,
    doing,
    name: nameOfBlueprint(recordId),
    becomes: () => Effect.succeed(keptRow(blueprintBytes({ config, requirements, picture: thumbnail }), bundle?.snapshot)),
  })

/** The new parts of a blueprint; absent ones stay. */
export interface NewParts {
  readonly config?: string
  readonly requirements?: string | undefined
  readonly picture?: Picture
}

/** The current parts that the new ones replace. */
const placeOf = ({ id, recordId }: Blueprint, { config, requirements, picture }: NewParts) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const named = picture === undefined ? undefined : (yield* blueprints.find(id))?.thumbnail
    return {
      config: (config === undefined ? undefined : yield* blueprints.config(id)) ?? "",
      requirements: requirements === undefined ? undefined : yield* blueprints.requirements(id),
      picture: named === undefined ? undefined : yield* blueprints.thumbnail(recordId, named),
    }
  })

/** Replaces parts of a blueprint, unless that exceeds its owner's disk limit. Without an owner nobody is charged. */
export const keepingParts =
  (doing: string, blueprint: Blueprint, parts: NewParts) =>
  <A, E, R>(keep: Effect.Effect<A, E, R>) => {
    const { owner, recordId, bundle } = blueprint
    const { config = "", requirements, picture } = parts
    const brought = blueprintBytes({ config, requirements, picture })
    return owner === undefined
      ? keep
      : keeping({
          owner,
          doing,
          name: nameOfBlueprint(recordId),
          becomes: (there = keptRow(0, bundle?.snapshot)) =>
            Effect.map(placeOf(blueprint, parts), (old) => ({ ...there, bytes: there.bytes + brought - blueprintBytes(old) })),
        })(keep)
  }
