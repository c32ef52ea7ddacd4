import type { SealBroken } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { MasterKey } from "./master-key.ts"
import { secretStore } from "./secret-store.ts"

/** Part of the stored format. */
const context = "hashes of API keys"

/** Seals the key for hashing API keys. A key that opens it is the key of the database that contains it. */
export const sealHashKey = (master: MasterKey, hashKey: Buffer): string =>
  secretStore(master).seal(hashKey.toString("base64"), context)

export const openHashKey = (master: MasterKey, sealed: string): Effect.Effect<Buffer, SealBroken> =>
  Effect.map(secretStore(master).open(sealed, context), (text) => Buffer.from(text, "base64"))
