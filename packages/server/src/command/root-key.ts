import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import { rootKeyFile, shareDataFolder } from "../compose/data-folder.ts"
import { cryptoOf } from "../compose/installation-key.ts"
import { keyInFile, renewRootKey } from "../compose/root-key.ts"
import type { Arguments } from "./arguments.ts"
import { withStore } from "./open-store.ts"
import { recorded } from "./recorded.ts"
import { configOf } from "./serve.ts"

/** Gives ROOT a new key, or the one in a file, even while the service runs. */
export const rootKey = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  const folder = shareDataFolder(config.data)
  const { file } = args
  const renew =
    file === undefined
      ? renewRootKey(folder.path)
      : Effect.flatMap(keyInFile(resolve(file)), (key) => renewRootKey(folder.path, key))
  await withStore(config, recorded("root-key", renew).pipe(Effect.provide(cryptoOf(config, folder))), { look: true })
  process.stdout.write(`${rootKeyFile(folder.path)} has ROOT's new key; the old one no longer works.\n`)
  return 0
}
