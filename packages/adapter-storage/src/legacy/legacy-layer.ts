import type { LegacyInstallation, LegacyUser } from "@rangewright/domain"
import { LegacyData, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { access, constants } from "node:fs/promises"
import { join } from "node:path"
import { withCopy } from "./copy-database.ts"
import { readLegacyDatabase } from "./read-database.ts"
import { withFiles } from "./read-files.ts"

const isThere = (path: string): Promise<boolean> =>
  access(path, constants.F_OK).then(
    () => true,
    () => false,
  )

const read = async (folder: string): Promise<LegacyInstallation | undefined> => {
  const file = join(folder, "ludus.db")
  if (!(await isThere(file))) return undefined
  const marker = join(folder, "install", ".sqlite_db_migrated")
  const rows = await withCopy(file, readLegacyDatabase)
  const users: LegacyUser[] = []
  for (const user of rows.users) users.push(await withFiles(folder, user))
  return { ...rows, users, takenOver: (await isThere(marker)) ? marker : undefined }
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause)).slice(0, 200)

/** The data of a first-generation installation in this folder; read-only. */
export const legacyLayer = (folder: string): Layer.Layer<LegacyData> =>
  Layer.succeed(LegacyData, {
    place: join(folder, "ludus.db"),
    read: Effect.tryPromise({
      try: () => read(folder),
      catch: (cause) => new StorageFault({ doing: `read the older installation in ${folder}`, because: reasonOf(cause) }),
    }),
  })
