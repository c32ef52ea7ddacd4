import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { removeFolder } from "./remove-folder.ts"

/** The parts of the data folder. */
export interface Folders {
  readonly snapshots: string
  readonly pins: string
  readonly repositories: string
  /** Work in progress, and secrets while git runs. Whatever is here at start was left by a killed process. */
  readonly scratch: string
}

/** Creates the folders, accessible to this user only, and removes leftovers of a killed process. */
export const openFolders = async (root: string): Promise<Folders> => {
  const folders: Folders = {
    snapshots: join(root, "snapshots"),
    pins: join(root, "pins"),
    repositories: join(root, "repositories"),
    scratch: join(root, "scratch"),
  }
  await rm(folders.scratch, { recursive: true, force: true })
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true, mode: 0o700 })
  return folders
}

/** A folder for this scope only. Its removal waits for writers that end late. */
export const scratchFolder = (folders: Folders): Effect.Effect<string, unknown, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise(() => mkdtemp(join(folders.scratch, "work-"))),
    (folder) => Effect.ignore(Effect.tryPromise(() => removeFolder(folder))),
  )
