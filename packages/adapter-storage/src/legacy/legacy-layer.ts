import type { LegacyInstallation, LegacyUser } from "@rangewright/domain"
import { LegacyData, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { constants } from "node:fs"
import { access, open } from "node:fs/promises"
import { join } from "node:path"
import { readLegacyDatabase } from "./read-database.ts"

/** Passwords are short, and configurations are not longer than the service takes. */
const passwordAtMost = 1024
const configAtMost = 1024 * 1024

/** Names of folders below `users`: anything else could lead out of it. */
const folderName = /^[a-z_][a-z0-9._-]{0,47}$/u

/** A small file's text; undefined for one that is missing, larger, or no plain file. */
const readSmall = async (path: string, limit: number): Promise<string | undefined> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const facts = await file.stat()
    return facts.isFile() && facts.size <= limit ? await file.readFile("utf8") : undefined
  } finally {
    await file.close()
  }
}

const withFiles = async (folder: string, user: Omit<LegacyUser, "password" | "config">): Promise<LegacyUser> => {
  const name = user.hypervisorUsername
  if (!folderName.test(name)) return { ...user, password: undefined, config: undefined }
  const password = (await readSmall(join(folder, "users", name, "proxmox_password"), passwordAtMost))?.trim()
  const config = await readSmall(join(folder, "users", name, "range-config.yml"), configAtMost)
  return { ...user, password: password === "" ? undefined : password, config }
}

const read = async (folder: string): Promise<LegacyInstallation | undefined> => {
  const file = join(folder, "ludus.db")
  const there = await access(file, constants.F_OK).then(
    () => true,
    () => false,
  )
  if (!there) return undefined
  const { users, ranges, access: accesses } = readLegacyDatabase(file)
  const complete: LegacyUser[] = []
  for (const user of users) complete.push(await withFiles(folder, user))
  return { users: complete, ranges, access: accesses }
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).slice(0, 200)

/** The data of an installation of the first generation in this folder; it is opened for reading only. */
export const legacyLayer = (folder: string): Layer.Layer<LegacyData> =>
  Layer.succeed(LegacyData, {
    place: join(folder, "ludus.db"),
    read: Effect.tryPromise({
      try: () => read(folder),
      catch: (cause) => new StorageFault({ doing: `read the older installation in ${folder}`, because: reasonOf(cause) }),
    }),
  })
