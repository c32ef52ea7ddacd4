import { endProcessesBelow, removeFolder, systemPath } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { mkdir, readdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"

/** Folders that outlive a run, and the scratch folders of runs. */
export interface Folders {
  readonly runs: string
  readonly facts: string
  /** Facts set by roles. */
  readonly roleFacts: string
  readonly workspaces: string
}

const foldersOf = (folder: string): Folders => ({
  runs: join(folder, "runs"),
  facts: join(folder, "facts"),
  roleFacts: join(folder, "role-facts"),
  workspaces: join(folder, "workspaces"),
})

/** Creates them; ends tools that outlived a killed process, and removes its scratch folders with their secrets. */
export const openFolders = async (folder: string): Promise<Folders> => {
  const folders = foldersOf(folder)
  await endProcessesBelow(folders.runs)
  await removeFolder(folders.runs)
  for (const path of Object.values(folders)) await mkdir(path, { recursive: true, mode: 0o700 })
  return folders
}

const segment = (part: string): string => encodeURIComponent(part).replaceAll(".", "%2E")

/** Deletes the facts gathered about a machine by any run. Machine names need no escaping: the cache uses them as they are. */
export const forgetFacts = async ({ facts }: Pick<Folders, "facts">, rangeId: string, machine: string): Promise<void> => {
  const ofRange = join(facts, segment(rangeId))
  for (const user of await readdir(ofRange).catch(() => [])) await removeFolder(join(ofRange, user, machine)).catch(() => {})
}

/** Deletes everything kept for a user: files of roles in the workspace, and gathered facts. */
export const forgetUser = async ({ facts, workspaces }: Pick<Folders, "facts" | "workspaces">, userId: string): Promise<void> => {
  const own = (folder: string) => removeFolder(join(folder, segment(userId)))
  await own(workspaces)
  for (const range of await readdir(facts)) await own(join(facts, range))
}

/** Deletes all facts about the machines of a range, including those set by roles. */
export const forgetRange = async ({ facts, roleFacts }: Pick<Folders, "facts" | "roleFacts">, rangeId: string): Promise<void> => {
  for (const folder of [facts, roleFacts]) await removeFolder(join(folder, segment(rangeId)))
}

/** A private folder below one of them. The parts are ids, never paths. */
export const ownFolder = async (parent: string, ...parts: readonly string[]): Promise<string> => {
  const path = join(parent, ...parts.map(segment))
  await mkdir(path, { recursive: true, mode: 0o700 })
  return path
}

/** Writes these files, by path in the folder, readable by nobody else. */
export const writeFiles = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true, mode: 0o700 })
    await writeFile(join(folder, name), text, { mode: 0o600 })
  }
}

/** Environment of a system program that works in such a folder; nothing of the service's own. */
export const environmentOf = (folder: string) => ({
  PATH: systemPath,
  LC_ALL: "C.UTF-8",
  HOME: join(folder, "home"),
})

/** A folder for one run with these files, by path, readable by nobody else. Removed when the scope ends, however it ends. */
export const scratchFolder = (
  { runs }: Pick<Folders, "runs">,
  files: Readonly<Record<string, string>> = {},
): Effect.Effect<string, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const folder = join(runs, randomUUID())
        await mkdir(join(folder, "home"), { recursive: true, mode: 0o700 })
        await writeFiles(folder, files)
        return folder
      },
      catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
    }),
    (folder) => Effect.ignore(Effect.tryPromise(() => removeFolder(folder))),
  )
