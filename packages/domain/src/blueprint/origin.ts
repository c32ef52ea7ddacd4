import type { Brand } from "effect/Brand"
import type { RecordId } from "../access/ids.ts"
import type { SnapshotId } from "../content/snapshot-id.ts"
import { isShippedBlueprintId, isSourceId } from "../source/names.ts"

/**
 * ID of a blueprint: a letter, then letters, digits, `_` and `-`; up to three levels separated by `/`. For one from a source, the source's
 * id comes before them.
 */
export type BlueprintId = string & Brand<"BlueprintId">

/** The source that a blueprint was installed from, and its id there. */
export interface BlueprintOrigin {
  readonly source: RecordId
  /** The id in its manifest. */
  readonly sourceBlueprintID: string
}

/** The location of a blueprint's files: a content snapshot, and the path of a folder in it (empty: its root). */
export interface BlueprintBundle {
  readonly snapshot: SnapshotId
  readonly directory: string
}

/** How the last installation of a blueprint's requirements ended; empty before the first one. */
export const dependencyStatuses = ["", "ok", "partial", "error"] as const
export type DependencyStatus = (typeof dependencyStatuses)[number]

/** The last installation of a blueprint's requirements. */
export interface DependencyInstallation {
  readonly status: DependencyStatus
  /** What could not be installed, for display; empty if nothing failed. */
  readonly error: string
  readonly at: Date | undefined
}

export const neverInstalled: DependencyInstallation = { status: "", error: "", at: undefined }

const mostErrorText = 4000

/** One failure counts as an error, several as partial. */
export const installationOf = (failures: readonly string[], at: Date): DependencyInstallation => ({
  status: failures.length === 0 ? "ok" : failures.length === 1 ? "error" : "partial",
  error: failures.join("; ").slice(0, mostErrorText),
  at,
})

const longest = 255

/** The id of a blueprint from a source; undefined if it would be too long. */
export const idOfSourceBlueprint = (source: string, shipped: string): BlueprintId | undefined => {
  const id = `${source}/${shipped}`
  return id.length > longest ? undefined : (id as BlueprintId)
}

/** Whether it is the id of any blueprint: chosen by a user, or derived for one from a source, which has one level more. */
export const isAnyBlueprintId = (text: string): text is BlueprintId => {
  if (isShippedBlueprintId(text)) return true
  const [source = "", first = "", ...rest] = text.split("/")
  return text.length <= longest && isSourceId(source) && isShippedBlueprintId([first, ...rest].join("/"))
}

/** The holder that pins the snapshot with a blueprint's files. */
export const holderOfBundle = (blueprint: RecordId): string => `blueprint:${blueprint}`
