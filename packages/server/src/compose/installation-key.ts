import {
  credentialHasher,
  cryptoLayer,
  firstHashKey,
  keyId,
  KeyUnusable,
  loadKey,
  loadOrCreateKey,
  type MasterKey,
  masterKeyFromText,
  openHashKey,
  sealHashKey,
  secretStore,
} from "@rangewright/adapter-crypto"
import {
  adoptSealingKey,
  apiKeyHash,
  type Database,
  hasUsers,
  sealedTexts,
  type SealingKey,
  sealingKey,
} from "@rangewright/adapter-storage"
import { type Fault, rootUserId } from "@rangewright/domain"
import type { CredentialHasher, SecretStore, StorageFault, TokenSigner, VpnKeys } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Config } from "../config/config.ts"
import { type DataFolder, databaseGone, isUsed, markUsed } from "./data-folder.ts"
import { nextKeyFile, takeNextKey } from "./key-files.ts"
import { readRootKey } from "./root-key.ts"

export type KeyConfig = Pick<Config, "databaseUrl" | "secretKey">
export type KeyFolder = Pick<DataFolder, "database" | "keyFile" | "path">

/** A key, and where it was found. */
export interface GivenKey {
  readonly key: MasterKey
  readonly from: string
}

/** A key that belongs to the database, with the database's key for hashing API keys. */
export interface OpenedKey {
  readonly key: MasterKey
  readonly hashKey: Buffer
}

const wayOut =
  "Restore the key of this database: a copy of secret-key, or the secret_key of its other instances. If it is lost, npm start -- rotate-key --lost continues with a new key, without what the old one encrypted."

/** The configured key, else the one in the file; undefined when there is neither. */
export const givenKey = (config: KeyConfig, { keyFile, path }: KeyFolder): Effect.Effect<GivenKey | undefined, KeyUnusable> =>
  config.secretKey === undefined
    ? Effect.map(loadKey(keyFile, isUsed(path) ? wayOut : undefined), (key) => key && { key, from: `the key in ${keyFile}` })
    : Effect.map(masterKeyFromText(config.secretKey, "secret_key"), (key) => ({ key, from: "the key of secret_key" }))

/** What a key opens in a database; undefined when it is another database's key. */
export const opened = (key: MasterKey, known: SealingKey): Effect.Effect<OpenedKey | undefined> =>
  Effect.match(openHashKey(key, known.sealedHashKey), {
    onFailure: () => undefined,
    onSuccess: (hashKey) => ({ key, hashKey }),
  })

/** The fault when a key is not that of the database, or of the backup. */
export const wrongKey = ({ key, from }: GivenKey, known?: SealingKey, what = "the database"): KeyUnusable => {
  const ids = known === undefined ? "" : `: its id is ${keyId(key)}, and ${what} was encrypted with ${known.keyId}`
  return new KeyUnusable({
    what: from,
    because: `it does not belong to ${what}${ids}`,
    hint:
      what === "the database"
        ? wayOut
        : "Put the key of that time next to secret-key, named secret-key.<id>, and repeat: the backup is then encrypted again with the current key.",
  })
}

export const missingKey = ({ keyFile }: KeyFolder): KeyUnusable =>
  new KeyUnusable({ what: "the database", because: `there is no ${keyFile} to decrypt its secrets`, hint: wayOut })

/** Tests a key on the secrets of a database that does not name its key; `unknown`: nothing is sealed. */
export const proof = (key: MasterKey): Effect.Effect<"opens" | "fails" | "unknown", StorageFault, Database> =>
  Effect.gen(function* () {
    const texts = yield* sealedTexts
    const store = secretStore(key)
    for (const { sealed, context } of texts)
      if (yield* Effect.match(store.open(sealed, context), { onFailure: () => false, onSuccess: () => true })) return "opens"
    return texts.length === 0 ? "unknown" : "fails"
  })

const isKeyedHash = (hash: string | undefined): hash is string => hash !== undefined && /^[0-9a-f]{64}$/u.test(hash)

/** Fails when there is proof that the key is not the one of a database written by an older version. */
const refuteWrong = (given: GivenKey, { path }: KeyFolder) =>
  Effect.gen(function* () {
    const said = yield* proof(given.key)
    if (said === "fails") return yield* wrongKey(given)
    if (said === "opens") return
    const hash = yield* apiKeyHash(rootUserId)
    const rootKey = readRootKey(path)
    if (rootKey === undefined || !isKeyedHash(hash)) return
    if (!credentialHasher(firstHashKey(given.key)).verify(rootKey, hash)) return yield* wrongKey(given)
  })

/** Records the key as that of a database that names none. */
export const adopt = (key: MasterKey): Effect.Effect<void, StorageFault, Database> =>
  adoptSealingKey({ keyId: keyId(key), sealedHashKey: sealHashKey(key, firstHashKey(key)), sealedRootKey: undefined })

/** Returns the given key if it belongs to the database; completes a key change that was interrupted after the database had switched. */
const matching = (known: SealingKey, given: GivenKey | undefined, config: KeyConfig, folder: KeyFolder) =>
  Effect.gen(function* () {
    if (given === undefined) return yield* missingKey(folder)
    const fits = yield* opened(given.key, known)
    if (fits !== undefined) return fits
    const next = config.secretKey === undefined ? yield* loadKey(nextKeyFile(folder)) : undefined
    const follows = next && (yield* opened(next, known))
    if (follows === undefined) return yield* wrongKey(given, known)
    yield* takeNextKey(folder, keyId(given.key))
    return follows
  })

/**
 * The installation's key, verified on its database; created when both are new. Fails when the key is missing or wrong, and when the
 * database of a used folder is empty; nothing is written then.
 */
export const openKey = (config: KeyConfig, folder: KeyFolder): Effect.Effect<OpenedKey, Fault, Database> =>
  Effect.gen(function* () {
    const given = yield* givenKey(config, folder)
    const known = yield* sealingKey
    if (known !== undefined) return yield* matching(known, given, config, folder)
    if (yield* hasUsers) {
      if (given === undefined) return yield* missingKey(folder)
      yield* refuteWrong(given, folder)
    } else if (isUsed(folder.path)) {
      const what = config.databaseUrl === undefined ? `the database ${folder.database}` : "the database of database_url"
      return yield* databaseGone(folder.path, what, "it holds nothing")
    }
    const first = given ?? { key: yield* loadOrCreateKey(folder.keyFile), from: `the key in ${folder.keyFile}` }
    yield* adopt(first.key)
    // another instance may have been first when several start at once
    const adopted = yield* sealingKey
    return adopted === undefined ? yield* missingKey(folder) : yield* matching(adopted, first, config, folder)
  }).pipe(Effect.tap(() => Effect.sync(() => markUsed(folder.path))))

/** All services that deal with secrets, once the key was verified on the database. */
export const cryptoOf = (
  config: KeyConfig,
  folder: KeyFolder,
): Layer.Layer<CredentialHasher | SecretStore | TokenSigner | VpnKeys, Fault, Database> =>
  Layer.unwrap(Effect.map(openKey(config, folder), ({ key, hashKey }) => cryptoLayer(key, hashKey)))
