import {
  cryptoLayer,
  firstHashKey,
  keepKey,
  keyId,
  type KeyUnusable,
  type MasterKey,
  newKey,
  sealHashKey,
  secretStore,
} from "@rangewright/adapter-crypto"
import { backupTo, type Database, sealAnew, type SealingKey, sealingKey } from "@rangewright/adapter-storage"
import { Conflict, type Fault } from "@rangewright/domain"
import type { StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { adopt, givenKey, type KeyConfig, type KeyFolder, type OpenedKey, openKey, opened } from "./installation-key.ts"
import { nextKeyFile, takeNextKey } from "./key-files.ts"
import { renewRootKey, rootKeyContext } from "./root-key.ts"

/** Result of a change of the key. */
export interface KeyChange {
  readonly keyId: string
  /** The previous key; undefined when this one was already in use and nothing was done. */
  readonly formerId: string | undefined
  /** How many secrets were sealed with the new key. */
  readonly sealed: number
  /** What the old key could not open; left unchanged. */
  readonly left: readonly string[]
}

/** Seals everything that one key opens with another one, including the hash key: API keys stay valid. */
export const sealWith = (
  from: OpenedKey,
  to: MasterKey,
): Effect.Effect<Pick<KeyChange, "left" | "sealed">, Conflict | StorageFault, Database> =>
  Effect.gen(function* () {
    const known = yield* sealingKey
    if (known === undefined) return { sealed: 0, left: [] }
    const [before, after] = [secretStore(from.key), secretStore(to)]
    const again = (sealed: string, context: string): Effect.Effect<string | undefined> =>
      Effect.match(before.open(sealed, context), {
        onFailure: () => undefined,
        onSuccess: (plain) => after.seal(plain, context),
      })
    const sealedRootKey = known.sealedRootKey && (yield* again(known.sealedRootKey, rootKeyContext))
    const next: SealingKey = { keyId: keyId(to), sealedHashKey: sealHashKey(to, from.hashKey), sealedRootKey }
    const done = yield* sealAnew(known, next, again)
    const left = done.filter(({ text }) => text === undefined).map(({ context }) => context)
    return { sealed: done.length - left.length, left }
  })

/**
 * The next key. When keys are kept in files, it is written beside the one in use before the database switches to it, so that the right one
 * exists at every moment.
 */
const keyToCome = (
  config: KeyConfig,
  folder: KeyFolder,
  chosen: MasterKey | undefined,
): Effect.Effect<MasterKey, Conflict | KeyUnusable> => {
  if (config.secretKey === undefined) {
    // left by an interrupted change; it never became the key
    rmSync(nextKeyFile(folder), { force: true })
    return keepKey(nextKeyFile(folder), chosen ?? newKey())
  }
  return chosen === undefined
    ? Effect.fail(
        new Conflict({
          what: "Cannot change the key: the current one comes from secret_key, which this command cannot change",
          hint: "Create a new one (umask 077; openssl rand -base64 32 > FILE), then run: rotate-key FILE",
        }),
      )
    : Effect.succeed(chosen)
}

/** Gives the installation a new key, or the chosen one. May be repeated after an interruption at any point. */
export const changeKey = (
  config: KeyConfig,
  folder: KeyFolder,
  chosen: MasterKey | undefined,
): Effect.Effect<KeyChange, Fault, Database> =>
  Effect.gen(function* () {
    const known = yield* sealingKey
    const taken = (key: MasterKey): KeyChange => ({ keyId: keyId(key), formerId: undefined, sealed: 0, left: [] })
    if (config.secretKey !== undefined && chosen && known && (yield* opened(chosen, known))) return taken(chosen)
    const current = yield* openKey(config, folder)
    const formerId = keyId(current.key)
    if (chosen !== undefined && keyId(chosen) === formerId) return taken(chosen)
    const next = yield* keyToCome(config, folder, chosen)
    const done = yield* sealWith(current, next)
    if (config.secretKey === undefined) yield* takeNextKey(folder, formerId)
    return { keyId: keyId(next), formerId, ...done }
  })

/**
 * Gives the installation a new key, or the configured one, when the old one is lost for good: what it sealed is given up, all API keys
 * become void, and ROOT gets a new one. Keeps a copy of the database first. Fails when the present key is the right one.
 */
export const replaceLostKey = (config: KeyConfig, folder: KeyFolder): Effect.Effect<KeyChange, Fault, Database | Users> =>
  Effect.gen(function* () {
    const found = yield* openKey(config, folder).pipe(Effect.catchTag("KeyUnusable", () => Effect.undefined))
    if (found !== undefined)
      return yield* new Conflict({
        what: "Cannot treat the database's key as lost: the key exists and opens the database",
        hint: "To change it, run rotate-key without --lost.",
      })
    // a file that is truncated, or holds something else, means a lost key too
    const given = yield* givenKey(config, folder).pipe(
      Effect.catchIf(
        ({ facts }) => config.secretKey === undefined && facts.malformed === true,
        () => Effect.undefined,
      ),
    )
    const next = config.secretKey !== undefined && given !== undefined ? given.key : yield* keyToCome(config, folder, undefined)
    if (config.databaseUrl === undefined) yield* backupTo(join(folder.path, `before-${keyId(next)}.db`))
    // a database of an older version names no key
    yield* adopt(next)
    const known = yield* sealingKey
    const hashKey = firstHashKey(next)
    if (known !== undefined)
      yield* sealAnew(known, { keyId: keyId(next), sealedHashKey: sealHashKey(next, hashKey), sealedRootKey: undefined }, () =>
        Effect.succeed(null),
      )
    if (config.secretKey === undefined) yield* takeNextKey(folder, given === undefined ? "lost" : keyId(given.key))
    yield* renewRootKey(folder.path).pipe(Effect.provide(cryptoLayer(next, hashKey)))
    return { keyId: keyId(next), formerId: known?.keyId, sealed: 0, left: [] }
  })
