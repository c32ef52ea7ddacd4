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
  /** Work that is not done yet, and secrets while git runs. Whatever is here when the service starts was left by a killed one. */
  readonly scratch: string
}

/** Makes the folders, for this user alone, and sweeps what a killed process left. */
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

/** A folder of this scope alone. Its removal waits out writers that end late. */
export const scratchFolder = (folders: Folders): Effect.Effect<string, unknown, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise(() => mkdtemp(join(folders.scratch, "work-"))),
    (folder) => Effect.ignore(Effect.tryPromise(() => removeFolder(folder))),
  )
