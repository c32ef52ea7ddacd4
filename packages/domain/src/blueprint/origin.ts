import type { Brand } from "effect/Brand"
import type { RecordId } from "../access/ids.ts"
import type { SnapshotId } from "../content/snapshot-id.ts"
import { isShippedBlueprintId, isSourceId } from "../source/names.ts"

/**
 * Name of a blueprint on the wire: a letter, then letters, digits, `_` and `-`; up to three levels separated by `/`. One
 * from a source has the source's id before them.
 */
export type BlueprintId = string & Brand<"BlueprintId">

/** The source that a blueprint was installed from, and what it is called there. */
export interface BlueprintOrigin {
  readonly source: RecordId
  /** The id in its manifest. */
  readonly sourceBlueprintID: string
}

/** Where all files of a blueprint lie: a state of content that never changes, and the path of a folder in it (empty: its root). */
export interface BlueprintBundle {
  readonly snapshot: SnapshotId
  readonly directory: string
}

/** How the last installation of what a blueprint requires ended; empty: there was none yet. */
export const dependencyStatuses = ["", "ok", "partial", "error"] as const
export type DependencyStatus = (typeof dependencyStatuses)[number]

/** The last installation of what a blueprint requires. */
export interface DependencyInstallation {
  readonly status: DependencyStatus
  /** What could not be had, for people; empty where nothing failed. */
  readonly error: string
  readonly at: Date | undefined
}

export const neverInstalled: DependencyInstallation = { status: "", error: "", at: undefined }

const mostErrorText = 4000

/** One failure is an error, several are a part of the whole. */
export const installationOf = (failures: readonly string[], at: Date): DependencyInstallation => ({
  status: failures.length === 0 ? "ok" : failures.length === 1 ? "error" : "partial",
  error: failures.join("; ").slice(0, mostErrorText),
  at,
})

const longest = 255

/** The id of a blueprint from a source; undefined where that would be longer than an id may be. */
export const idOfSourceBlueprint = (source: string, shipped: string): BlueprintId | undefined => {
  const id = `${source}/${shipped}`
  return id.length > longest ? undefined : (id as BlueprintId)
}

/** Whether a blueprint can have it: chosen by a user, or given to one from a source, which has one level more. */
export const isAnyBlueprintId = (text: string): text is BlueprintId => {
  if (isShippedBlueprintId(text)) return true
  const [source = "", first = "", ...rest] = text.split("/")
  return text.length <= longest && isSourceId(source) && isShippedBlueprintId([first, ...rest].join("/"))
}

/** Who holds the snapshot that a blueprint's files lie in. */
export const holderOfBundle = (blueprint: RecordId): string => `blueprint:${blueprint}`
