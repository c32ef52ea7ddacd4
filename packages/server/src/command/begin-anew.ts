import { mkdirSync, readdirSync, renameSync } from "node:fs"
import { join } from "node:path"
import { holdUsedFolder } from "../compose/data-folder.ts"
import type { Arguments } from "./arguments.ts"
import { configOf } from "./serve.ts"

/** What serves the next beginning too: the certificate that clients have pinned, the licence, the lock we hold, what was set aside before. */
const stays = /^(?:certificate\.pem|subscription|lock\.db.*|set-aside-.*)$/u

/** Sets aside what the data folder holds, so that the next start begins with an empty database. Nothing is deleted. */
export const beginAnew = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  const folder = holdUsedFolder(config.data)
  try {
    const aside = join(folder.path, `set-aside-${new Date().toISOString().replaceAll(/[:.]/gu, "-")}`)
    mkdirSync(aside, { mode: 0o700 })
    for (const name of readdirSync(folder.path).filter((entry) => !stays.test(entry)))
      renameSync(join(folder.path, name), join(aside, name))
    const server = config.databaseUrl === undefined ? "" : " The database of database_url is as it was: name an empty one."
    process.stdout.write(`What the service kept is in ${aside}. The next start begins with nothing.${server}\n`)
    return 0
  } finally {
    folder.release()
  }
}
