import type { Range, RecordId } from "@rangewright/domain"
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

/** Deletes everything kept for a user: files of roles in the user's workspaces, and gathered facts. */
export const forgetUser = async ({ facts, workspaces }: Pick<Folders, "facts" | "workspaces">, userId: string): Promise<void> => {
  const own = (folder: string) => removeFolder(join(folder, segment(userId)))
  // workspaces of earlier versions, which users had across ranges
  await own(workspaces)
  for (const range of await rangesIn(workspaces)) await own(join(workspaces, range))
  for (const range of await readdir(facts)) await own(join(facts, range))
}

/** Deletes all facts about the machines of a range, including those set by roles. If the range itself is removed, also its workspaces. */
export const forgetRange = async (
  { facts, roleFacts, workspaces }: Pick<Folders, "facts" | "roleFacts" | "workspaces">,
  rangeId: string,
  removed?: RecordId,
): Promise<void> => {
  for (const folder of [facts, roleFacts]) await removeFolder(join(folder, segment(rangeId)))
  if (removed !== undefined) await removeFolder(join(workspaces, segment(workspacesOf(removed))))
}

/** Stands for the user of a run whose user is gone: no user can have this ID. */
const noUser = "no-user"

export const userPart = (userId: string | undefined): string => userId ?? noUser

/** No ID of a user begins like this: what users kept in earlier versions is next to these folders. */
const rangePrefix = "range-"

/** The record ID, because a later range of the same name is a different one. */
const workspacesOf = (recordId: RecordId): string => `${rangePrefix}${recordId}`

const rangesIn = async (workspaces: string): Promise<readonly string[]> =>
  (await readdir(workspaces)).filter((name) => name.startsWith(rangePrefix))

/**
 * Where roles keep files in the runs that this user starts in this range. What they find there is used by their later runs, and the author of
 * a configuration decides what they write: so no other range's runs share it, and none that other users start.
 */
export const ownWorkspace = (
  { workspaces }: Pick<Folders, "workspaces">,
  { recordId }: Pick<Range, "recordId">,
  userId: string | undefined,
): Promise<string> => ownFolder(workspaces, workspacesOf(recordId), userPart(userId))

/** All workspaces of a user. Not all of them exist. */
export const workspacesOfUser = async ({ workspaces }: Pick<Folders, "workspaces">, userId: string): Promise<readonly string[]> =>
  (await rangesIn(workspaces)).map((range) => join(workspaces, range, segment(userId)))

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
