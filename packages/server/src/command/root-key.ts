import { cryptoLayer } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { DataFolderError } from "../compose/data-folder.ts"
import { masterKeyOf } from "../compose/master-key.ts"
import { keyInFile, renewRootKey, rootKeyFile } from "../compose/root-key.ts"
import type { Arguments } from "./arguments.ts"
import { withStore } from "./open-store.ts"
import { configOf } from "./serve.ts"

/** Gives ROOT a new key, or the one in a file, also while the service works. */
export const rootKey = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  const data = resolve(config.data)
  const keyFile = join(data, "secret-key")
  if (config.secretKey === undefined && !existsSync(keyFile))
    throw new DataFolderError(
      `Cannot make a key for ROOT: there is no ${keyFile}. Name the service's data folder (data, RANGEWRIGHT_DATA).`,
    )
  const master = await masterKeyOf(config, keyFile)
  const { file } = args
  const renew =
    file === undefined ? renewRootKey(data) : Effect.flatMap(keyInFile(resolve(file)), (key) => renewRootKey(data, key))
  await withStore(config, renew.pipe(Effect.provide(cryptoLayer(master))))
  process.stdout.write(`${rootKeyFile(data)} holds ROOT's new key; the old one is void.\n`)
  return 0
}
