import type { Blueprint, RecordId } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { lastInstallation } from "./blueprint.ts"
import { recordTime } from "./common.ts"

/** A blueprint in the record API; users and groups by their record IDs. */
export const BlueprintRecord = Schema.Struct({
  id: Schema.String,
  collectionId: Schema.String,
  collectionName: Schema.String,
  created: Schema.String,
  updated: Schema.String,
  blueprintID: Schema.String,
  name: Schema.String,
  description: Schema.String,
  owner: Schema.String,
  thumbnail: Schema.String,
  sharedUsers: Schema.Array(Schema.String),
  sharedGroups: Schema.Array(Schema.String),
  version: Schema.String,
  tags: Schema.Array(Schema.String),
  min_ludus_version: Schema.String,
  lastInstallStatus: Schema.String,
  lastInstallError: Schema.String,
  lastInstalledAt: Schema.String,
  source: Schema.String,
  sourceBlueprintID: Schema.String,
}).annotate({ identifier: "BlueprintRecord" })

/** Record IDs of users and groups, by the IDs in blueprints. */
export interface RecordIds {
  readonly users: ReadonlyMap<string, RecordId>
  readonly groups: ReadonlyMap<string, RecordId>
}

const known = (names: readonly string[], ids: ReadonlyMap<string, RecordId>): readonly string[] =>
  names.flatMap((name) => ids.get(name) ?? [])

export const blueprintRecord = (blueprint: Blueprint, { users, groups }: RecordIds): typeof BlueprintRecord.Type => ({
  id: blueprint.recordId,
  collectionId: "blueprints",
  collectionName: "blueprints",
  created: recordTime(blueprint.createdAt),
  updated: recordTime(blueprint.updatedAt),
  blueprintID: blueprint.id,
  name: blueprint.name,
  description: blueprint.description,
  owner: users.get(blueprint.owner ?? "") ?? "",
  thumbnail: blueprint.thumbnail ?? "",
  sharedUsers: known(blueprint.sharedUsers, users),
  sharedGroups: known(blueprint.sharedGroups, groups),
  version: blueprint.version,
  tags: blueprint.tags,
  min_ludus_version: blueprint.minVersion,
  ...lastInstallation(blueprint),
  source: blueprint.origin?.source ?? "",
  sourceBlueprintID: blueprint.origin?.sourceBlueprintID ?? "",
})
