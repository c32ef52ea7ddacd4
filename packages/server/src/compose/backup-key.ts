import { keyId, loadKey, type MasterKey } from "@rangewright/adapter-crypto"
import { type Database, type SealingKey, sealingKey } from "@rangewright/adapter-storage"
import type { Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { existsSync, readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { sealWith } from "./change-key.ts"
import { adopt, givenKey, type KeyConfig, type KeyFolder, missingKey, opened, proof, wrongKey } from "./installation-key.ts"

/** Keys that were in use before, as far as they still lie beside the one in use. */
const formerKeys = ({ keyFile }: KeyFolder): Effect.Effect<readonly MasterKey[], Fault> =>
  Effect.forEach(
    existsSync(dirname(keyFile))
      ? readdirSync(dirname(keyFile)).filter((name) => name.startsWith(`${basename(keyFile)}.`) && !name.endsWith(".next"))
      : [],
    (name) => loadKey(join(dirname(keyFile), name)),
  ).pipe(Effect.map((keys) => keys.filter((key) => key !== undefined)))

/** Whether a key is that of a backup, as far as the backup tells. */
const belongs = (key: MasterKey, known: SealingKey | undefined) =>
  known === undefined
    ? Effect.map(proof(key), (said) => said !== "fails")
    : Effect.map(opened(key, known), (fits) => fits !== undefined)

/**
 * Makes sure, before a backup takes the place of the data, that our key opens it. What a former key of ours sealed is sealed anew with the
 * one in use; the key of anybody else is refused.
 */
export const giveBackupOurKey = (config: KeyConfig, folder: KeyFolder): Effect.Effect<void, Fault, Database> =>
  Effect.gen(function* () {
    const given = yield* givenKey(config, folder)
    if (given === undefined) return yield* missingKey(folder)
    const known = yield* sealingKey
    for (const key of [given.key, ...(yield* formerKeys(folder))]) {
      if (!(yield* belongs(key, known))) continue
      if (known === undefined) yield* adopt(key)
      const sealed = yield* sealingKey
      const fits = sealed && (yield* opened(key, sealed))
      if (fits !== undefined && keyId(key) !== keyId(given.key)) yield* sealWith(fits, given.key)
      return
    }
    return yield* wrongKey(given, known, "the backup")
  })
