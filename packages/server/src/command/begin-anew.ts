import { AuditTrail } from "@rangewright/ports"
import { existsSync, readdirSync, renameSync } from "node:fs"
import { join } from "node:path"
import { makeAside } from "../backup/put-in-place.ts"
import { holdUsedFolder } from "../compose/data-folder.ts"
import type { Config } from "../config/config.ts"
import type { Arguments } from "./arguments.ts"
import { databaseFile, withStore } from "./open-store.ts"
import { recorded } from "./recorded.ts"
import { configOf } from "./serve.ts"

/**
 * Kept for the next start: the certificate that clients have pinned, the licence, the lock that this process holds, and what was set aside
 * before.
 */
const stays = /^(?:certificate\.pem|subscription|lock\.db.*|set-aside-.*)$/u

/**
 * Writes an audit entry before the database is set aside. A database that cannot be opened is a reason to begin anew, so it does not stop
 * the command.
 */
const record = async (config: Config): Promise<string> => {
  const file = databaseFile(config)
  if (file !== undefined && !existsSync(file)) return ""
  const begin = AuditTrail.use((trail) => trail.begin)
  // a database of an older version is set aside as it is, for that version
  return withStore(config, recorded("begin-anew", begin), { look: true }).then(
    () => "",
    (cause: unknown) =>
      ` It could not be recorded in the audit trail: ${cause instanceof Error ? cause.message : String(cause)}.`,
  )
}

/** Sets aside the contents of the data folder, so that the next start begins with an empty database. Deletes nothing. */
export const beginAnew = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  const folder = holdUsedFolder(config.data, "begin anew")
  try {
    const untold = await record(config)
    const aside = makeAside(folder.path)
    for (const name of readdirSync(folder.path).filter((entry) => !stays.test(entry)))
      renameSync(join(folder.path, name), join(aside, name))
    const server = config.databaseUrl === undefined ? "" : " The database of database_url is unchanged: choose an empty one."
    process.stdout.write(`The previous data is in ${aside}. The next start begins with an empty database.${server}${untold}\n`)
    return 0
  } finally {
    folder.release()
  }
}
