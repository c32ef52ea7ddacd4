import { restoreFrom } from "@rangewright/adapter-storage"
import { resolve } from "node:path"
import type { Arguments } from "./arguments.ts"
import { withStore } from "./open-store.ts"
import { configOf } from "./serve.ts"

/** Makes the data what a backup holds, also while the service works. */
export const restore = async (args: Arguments): Promise<number> => {
  const source = resolve(args.file ?? "")
  await withStore(configOf(args), restoreFrom(source))
  process.stdout.write(
    `The data is what ${source} holds. Machines that were made or removed since then differ from it: look at GET /range/drift, and deploy where it says so. If ROOT's key was renewed since then, it is void: make one with root-key.\n`,
  )
  return 0
}
