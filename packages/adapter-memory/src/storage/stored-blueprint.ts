import { type Blueprint, BlueprintExists, newlyMadeBlueprint, UserNotFound } from "@rangewright/domain"
import type { BlueprintFromSource, NewBlueprint } from "@rangewright/ports"
import * as Result from "effect/Result"
import type { MemoryStore, StoredBlueprint } from "./memory-store.ts"

type Blueprints = ReadonlyMap<Blueprint["id"], StoredBlueprint>

/** A new blueprint, added to the existing ones. */
export const newlyStored = (
  { users }: Pick<MemoryStore, "users">,
  present: Blueprints,
  { config, requirements, thumbnail: picture, ...blueprint }: NewBlueprint,
  origin?: Blueprint["origin"],
): Result.Result<StoredBlueprint, BlueprintExists | UserNotFound> => {
  if (!users.has(blueprint.owner)) return Result.fail(new UserNotFound({ userId: blueprint.owner }))
  if (present.has(blueprint.id)) return Result.fail(new BlueprintExists({ blueprint: blueprint.id }))
  return Result.succeed({ blueprint: newlyMadeBlueprint(blueprint, picture?.name, origin), config, requirements, picture })
}

/** Stores a blueprint from a source: it is added, or updates the one with the same origin. */
export const storedFromSource = (
  store: Pick<MemoryStore, "users">,
  present: Blueprints,
  shipped: BlueprintFromSource,
): Result.Result<StoredBlueprint, BlueprintExists | UserNotFound> => {
  const { origin, config, requirements, thumbnail: picture, createdAt: updatedAt } = shipped
  const found = [...present.values()].find(
    ({ blueprint }) =>
      blueprint.origin?.source === origin.source && blueprint.origin.sourceBlueprintID === origin.sourceBlueprintID,
  )
  if (found === undefined) return newlyStored(store, present, shipped, origin)
  const { name, description, version, tags, minVersion, bundle } = shipped
  const said = { name, description, version, tags, minVersion, bundle }
  return Result.succeed({
    blueprint: { ...found.blueprint, ...said, thumbnail: picture?.name, updatedAt },
    config,
    requirements,
    picture,
  })
}
