import {
  bearsMark,
  keyId,
  KeyUnusable,
  loadKey,
  type MasterKey,
  masterKeyFromText,
  openWithPassphrase,
  passphraseFrom,
  passphraseIn,
} from "@rangewright/adapter-crypto"
import { Refusal } from "@rangewright/adapter-git"
import { type Database, type SealingKey, sealingKey } from "@rangewright/adapter-storage"
import { Conflict, type Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { sealWith } from "../compose/change-key.ts"
import {
  adopt,
  givenKey,
  type KeyConfig,
  type KeyFolder,
  missingKey,
  type OpenedKey,
  opened,
  proof,
  wrongKey,
} from "../compose/installation-key.ts"
import type { BackupHead } from "./read-archive.ts"

/** Reads a passphrase from a file of mode 0600, or from standard input for `-`. */
export const readPassphrase = (from: string): Effect.Effect<string, KeyUnusable> =>
  from === "-"
    ? Effect.flatMap(
        Effect.sync(() => readFileSync(0, "utf8")),
        (text) => passphraseFrom(text, "standard input"),
      )
    : passphraseIn(from)

/** The key in use, once it has opened a copy of the database; a copy written by an older version then names that key. */
export const keyOfCopy = (config: KeyConfig, folder: KeyFolder): Effect.Effect<MasterKey, Fault, Database> =>
  Effect.gen(function* () {
    const given = yield* givenKey(config, folder)
    if (given === undefined) return yield* missingKey(folder)
    const known = yield* sealingKey
    const fits = known === undefined ? (yield* proof(given.key)) !== "fails" : (yield* opened(given.key, known)) !== undefined
    if (!fits) return yield* wrongKey(given, known)
    if (known === undefined) yield* adopt(given.key)
    return given.key
  })

/** Where to look for keys when a backup is restored. */
export interface KeyOptions {
  /** A file that holds a key. */
  readonly secretKey: string | undefined
  /** Where the passphrase for the key in the backup is. */
  readonly keyPassphrase: string | undefined
}

/** Available keys; the one in use, if any, remains the installation's. */
export interface KeysHere {
  readonly inUse: MasterKey | undefined
  readonly all: readonly MasterKey[]
}

const nameIt = "Name the file that holds the key."

const keyInFile = (file: string): Effect.Effect<MasterKey, KeyUnusable> =>
  Effect.flatMap(loadKey(file, nameIt), (key) =>
    key === undefined
      ? Effect.fail(new KeyUnusable({ what: file, because: "there is no such file", hint: nameIt }))
      : Effect.succeed(key),
  )

/** Keys used before, if their files still lie beside the one in use. Files there that are not keys are ignored. */
const formerKeys = ({ keyFile }: KeyFolder): Effect.Effect<readonly MasterKey[]> =>
  Effect.forEach(
    existsSync(dirname(keyFile))
      ? readdirSync(dirname(keyFile)).filter((name) => name.startsWith(`${basename(keyFile)}.`) && !name.endsWith(".next"))
      : [],
    (name) => Effect.orElseSucceed(loadKey(join(dirname(keyFile), name)), () => undefined),
  ).pipe(Effect.map((keys) => keys.filter((key) => key !== undefined)))

const keyInBackup = (head: BackupHead | undefined, passphraseAt: string) =>
  Effect.gen(function* () {
    const sealed = head?.manifest.sealedKey
    if (sealed === undefined || sealed === null)
      return yield* new Conflict({
        what: "Cannot take the key from the backup: it does not contain one",
        hint: "Name the file that has it with --secret-key.",
      })
    const what = "the key in the backup"
    const text = yield* openWithPassphrase(yield* readPassphrase(passphraseAt), sealed, what).pipe(
      Effect.mapError(() => {
        const hint = "Name the file that holds the right one, or get another copy of the backup."
        return new KeyUnusable({ what, because: "the passphrase is wrong, or the backup is damaged", hint })
      }),
    )
    return yield* masterKeyFromText(text, "the backup")
  })

/** Every available key that may be the backup's. */
export const keysHere = (
  config: KeyConfig,
  folder: KeyFolder,
  options: KeyOptions,
  head: BackupHead | undefined,
): Effect.Effect<KeysHere, Fault> =>
  Effect.gen(function* () {
    const inUse = (yield* givenKey(config, folder))?.key
    const named = options.secretKey === undefined ? [] : [yield* keyInFile(options.secretKey)]
    const unsealed = options.keyPassphrase === undefined ? [] : [yield* keyInBackup(head, options.keyPassphrase)]
    return { inUse, all: [...(inUse === undefined ? [] : [inUse]), ...named, ...unsealed, ...(yield* formerKeys(folder))] }
  })

/** The fault when no available key is the backup's. */
const noKey = (file: string, wantedId: string | undefined, keys: KeysHere, holdsKey: boolean): KeyUnusable => {
  const ids = [...new Set(keys.all.map(keyId))].join(", ")
  const wanted = wantedId === undefined ? "a key" : `the key ${wantedId}`
  return new KeyUnusable({
    what: `the backup ${file}`,
    because: `it was encrypted with ${wanted}, which is not here${ids === "" ? "" : ` (what is here: ${ids})`}`,
    hint: `Name the file that has it: --secret-key FILE; it is the secret-key, or the secret_key, of the service that made the backup.${holdsKey ? " Or use the one in the backup, with its passphrase: --key-passphrase FILE." : ""}`,
  })
}

/** The backup's key, if it is available and proves that the backup is unmodified. */
export const keyOfBackup = (
  file: string,
  { manifest, text, mark }: BackupHead,
  keys: KeysHere,
): Effect.Effect<MasterKey, KeyUnusable | Refusal> => {
  const key = keys.all.find((one) => keyId(one) === manifest.keyId)
  if (key === undefined) return Effect.fail(noKey(file, manifest.keyId, keys, manifest.sealedKey !== null))
  return bearsMark(key, text, mark)
    ? Effect.succeed(key)
    : Effect.fail(
        new Refusal({
          type: "archive",
          reason: "broken",
          rule: "backup",
          detail: "it has been changed: its authentication code does not match its key",
        }),
      )
}

/** Whether the key is the database's, as far as the database can tell. */
const belongs = (key: MasterKey, known: SealingKey | undefined) =>
  known === undefined
    ? Effect.map(proof(key), (said) => said !== "fails")
    : Effect.map(opened(key, known), (fits) => fits !== undefined)

/**
 * Makes sure that a restored database, before it is put in place, can be opened with the key to be used: the one in use, else its own.
 * Secrets sealed with another available key are sealed again. Returns that key, and the one the database came with.
 */
export const giveDatabaseOurKey = (
  file: string,
  keys: KeysHere,
  holdsKey: boolean,
): Effect.Effect<{ readonly now: OpenedKey; readonly before: MasterKey }, Fault, Database> =>
  Effect.gen(function* () {
    const known = yield* sealingKey
    for (const key of keys.all) {
      if (!(yield* belongs(key, known))) continue
      if (known === undefined) yield* adopt(key)
      const sealed = yield* sealingKey
      const fits = sealed && (yield* opened(key, sealed))
      if (fits === undefined) continue
      const ours = keys.inUse ?? key
      if (keyId(ours) !== keyId(key)) yield* sealWith(fits, ours)
      return { now: { key: ours, hashKey: fits.hashKey }, before: key }
    }
    return yield* noKey(file, known?.keyId, keys, holdsKey)
  })
