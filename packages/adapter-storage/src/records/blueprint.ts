import { type Blueprint, dependencyStatuses, neverInstalled, type Picture, pictureTypes } from "@rangewright/domain"
import type { BlueprintSize } from "@rangewright/ports"
import { bytes, count, key, oneOf, optional, reference, short, text, texts, time, unique } from "../schema/column.ts"
import { blueprintId, groupName, recordId, snapshotId, userId } from "../schema/ids.ts"
import { readerOf, type StoredRow, table } from "../schema/table.ts"
import { groups } from "./group.ts"
import { users } from "./user.ts"

export const blueprints = table(
  "blueprints",
  {
    id: key(blueprintId),
    recordId: unique("blueprints_record_unique", recordId),
    /** Undefined once the owner was removed. */
    owner: optional(reference(() => users.entity, userId, "set null")),
    name: text,
    description: text,
    version: text,
    tags: texts,
    minVersion: text,
    /** Record of its source and its id there; both undefined for a blueprint that was created here. */
    source: optional(recordId),
    sourceBlueprintId: optional(short(255)),
    /** Where its files are; both undefined when it has none. */
    bundleSnapshot: optional(snapshotId),
    bundleDirectory: optional(text),
    /** The last installation of its requirements; all undefined before the first. */
    installStatus: optional(oneOf(dependencyStatuses)),
    installError: optional(text),
    installedAt: optional(time),
    createdAt: time,
    updatedAt: time,
    /** The last change of the configuration, possibly by a deleted user; both undefined when a source made it. */
    configBy: optional(userId),
    configAt: optional(time),
    /** Last columns, so that lists need not read them. */
    requirements: optional(text),
    config: text,
  },
  { uniques: [{ name: "blueprints_origin_unique", properties: ["source", "sourceBlueprintId"] }] },
)

export const blueprintThumbnails = table("blueprint_thumbnails", {
  blueprintId: key(reference(() => blueprints.entity, blueprintId)),
  name: text,
  /** Content type. */
  type: oneOf(pictureTypes, 32),
  content: bytes,
})

export const blueprintUsers = table("blueprint_users", {
  blueprintId: key(reference(() => blueprints.entity, blueprintId)),
  userId: key(reference(() => users.entity, userId)),
})

export const blueprintGroups = table("blueprint_groups", {
  blueprintId: key(reference(() => blueprints.entity, blueprintId)),
  groupName: key(reference(() => groups.entity, groupName)),
})

const { requirements: _requirements, config: _config, configBy: _by, configAt: _at, ...shown } = blueprints.columns
const read = readerOf("the table blueprints", { ...shown, thumbnail: optional(text) })()

/** A row with the name of its picture in `thumbnail`; it does not include with whom it is shared. */
export const toBlueprint = (row: StoredRow): Blueprint => {
  const { source, sourceBlueprintId, bundleSnapshot, bundleDirectory, installStatus, installError, installedAt, ...said } =
    read(row)
  return {
    ...said,
    origin:
      source === undefined || sourceBlueprintId === undefined ? undefined : { source, sourceBlueprintID: sourceBlueprintId },
    bundle:
      bundleSnapshot === undefined || bundleDirectory === undefined
        ? undefined
        : { snapshot: bundleSnapshot, directory: bundleDirectory },
    installation:
      installStatus === undefined ? neverInstalled : { status: installStatus, error: installError ?? "", at: installedAt },
    sharedUsers: [],
    sharedGroups: [],
  }
}

const readSize = readerOf("the table blueprints", {
  id: shown.id,
  recordId: shown.recordId,
  bytes: count,
  bundleSnapshot: shown.bundleSnapshot,
})()

export const toBlueprintSize = (row: StoredRow): BlueprintSize => {
  const { bundleSnapshot: snapshot, ...size } = readSize(row)
  return { ...size, snapshot }
}

const readPicture = blueprintThumbnails.reader({ without: ["blueprintId"] })

export const toPicture = (row: StoredRow): Picture => {
  const { content, ...picture } = readPicture(row)
  return { ...picture, bytes: new Uint8Array(content) }
}
