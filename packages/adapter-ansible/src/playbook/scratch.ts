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
  /** What roles set. */
  readonly roleFacts: string
  readonly workspaces: string
}

const foldersOf = (folder: string): Folders => ({
  runs: join(folder, "runs"),
  facts: join(folder, "facts"),
  roleFacts: join(folder, "role-facts"),
  workspaces: join(folder, "workspaces"),
})

/** Makes them; tools that outlived a killed process end, and its scratch folders go, with the secrets in them. */
export const openFolders = async (folder: string): Promise<Folders> => {
  const folders = foldersOf(folder)
  await endProcessesBelow(folders.runs)
  await removeFolder(folders.runs)
  for (const path of Object.values(folders)) await mkdir(path, { recursive: true, mode: 0o700 })
  return folders
}

const segment = (part: string): string => encodeURIComponent(part).replaceAll(".", "%2E")

/** Forgets what is known of a machine, whoever learned it. Names of machines are plain: the cache has them as they are. */
export const forgetFacts = async ({ facts }: Pick<Folders, "facts">, rangeId: string, machine: string): Promise<void> => {
  const ofRange = join(facts, segment(rangeId))
  for (const user of await readdir(ofRange).catch(() => [])) await removeFolder(join(ofRange, user, machine)).catch(() => {})
}

/** Forgets all that is kept for a user: what roles left in the workspace, and what was learned of machines. */
export const forgetUser = async ({ facts, workspaces }: Pick<Folders, "facts" | "workspaces">, userId: string): Promise<void> => {
  const own = (folder: string) => removeFolder(join(folder, segment(userId)))
  await own(workspaces)
  for (const range of await readdir(facts)) await own(join(facts, range))
}

/** Forgets all that is known of the machines of a range, and what roles set there. */
export const forgetRange = async ({ facts, roleFacts }: Pick<Folders, "facts" | "roleFacts">, rangeId: string): Promise<void> => {
  for (const folder of [facts, roleFacts]) await removeFolder(join(folder, segment(rangeId)))
}

/** A folder below one of them for somebody's own things. The parts are ids, never paths. */
export const ownFolder = async (parent: string, ...parts: readonly string[]): Promise<string> => {
  const path = join(parent, ...parts.map(segment))
  await mkdir(path, { recursive: true, mode: 0o700 })
  return path
}

/** Writes these files, by their paths in the folder, readable by nobody else. */
export const writeFiles = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true, mode: 0o700 })
    await writeFile(join(folder, name), text, { mode: 0o600 })
  }
}

/** What a program of the system is given that works in such a folder, nothing of the service's own. */
export const environmentOf = (folder: string) => ({
  PATH: systemPath,
  LC_ALL: "C.UTF-8",
  HOME: join(folder, "home"),
})

/** A folder for one run with these files, by their paths in it, readable by nobody else. It goes when the scope ends, however that comes. */
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
