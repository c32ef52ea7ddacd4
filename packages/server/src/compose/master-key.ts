import { loadOrCreateKey, type MasterKey, masterKeyFromText } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import type { Config } from "../config/config.ts"

/** The key that seals secrets: the configured one, else that of the file, which is made where it is missing. */
export const masterKeyOf = (config: Config, file: string): Promise<MasterKey> =>
  Effect.runPromise(config.secretKey === undefined ? loadOrCreateKey(file) : masterKeyFromText(config.secretKey, "secret_key"))
