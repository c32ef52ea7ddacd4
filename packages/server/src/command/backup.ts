import { backupTo } from "@rangewright/adapter-storage"
import { statSync } from "node:fs"
import { resolve } from "node:path"
import type { Arguments } from "./arguments.ts"
import { withStore } from "./open-store.ts"
import { configOf } from "./serve.ts"

/** Copies the database while the service works. The key that opens its secrets is not in the copy, on purpose. */
export const backup = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  const target = resolve(args.file ?? "")
  await withStore(config, backupTo(target))
  const key =
    config.secretKey === undefined
      ? ` Keep ${resolve(config.data, "secret-key")} too, apart from it: without that key its secrets stay sealed.`
      : ""
  process.stdout.write(`${target} written, ${statSync(target).size} bytes.${key}\n`)
  return 0
}
