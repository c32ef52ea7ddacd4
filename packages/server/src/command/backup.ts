import { backupTo } from "@rangewright/adapter-storage"
import { existsSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import type { Arguments } from "./arguments.ts"
import { withStore } from "./open-store.ts"
import { configOf } from "./serve.ts"

/** What belongs to the data and is not in the database: what sources brought, and what is installed. */
const foldersBeside = ["content", "library"]

/** Copies the database while the service works. The key that opens its secrets is not in the copy, on purpose. */
export const backup = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  const target = resolve(args.file ?? "")
  await withStore(config, backupTo(target))
  const key =
    config.secretKey === undefined
      ? ` Keep ${resolve(config.data, "secret-key")} too, apart from it: without that key its secrets stay sealed.`
      : ""
  const folders = foldersBeside.map((name) => join(resolve(config.data), name)).filter((folder) => existsSync(folder))
  const beside =
    folders.length === 0 ? "" : ` Not in it: ${folders.join(" and ")}; copy them with any tool, also while the service works.`
  process.stdout.write(`${target} written, ${statSync(target).size} bytes.${beside}${key}\n`)
  return 0
}
