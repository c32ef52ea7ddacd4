import { type Database, keepSealedRootKey, sealingKey } from "@rangewright/adapter-storage"
import { type Fault, InvalidInput, rootUserId, UserExists } from "@rangewright/domain"
import { giveRootKey, newApiKey } from "@rangewright/application"
import { CredentialHasher, SecretStore, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname } from "node:path"
import { rootKeyFile } from "./data-folder.ts"
import { giveToOwnerOf } from "./owner.ts"

const readKey = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, "utf8").trim() : undefined)

/** ROOT's key from its file. */
export const readRootKey = (data: string): string | undefined => readKey(rootKeyFile(data))

/** Written atomically: to a temporary file that is then renamed. */
const writeKey = (path: string, key: string): void => {
  const beside = `${path}.new`
  rmSync(beside, { force: true })
  writeFileSync(beside, `${key}\n`, { mode: 0o400, flag: "wx" })
  giveToOwnerOf(dirname(path), [basename(beside)])
  renameSync(beside, path)
}

/** Format of ROOT's key, including the first generation's, whose 40 characters are any printable ones except a dot. */
const rootKeyPattern = new RegExp(`^${rootUserId}\\.[!-\\-/-~]{40}$`, "u")

/** Reads a key from a file, such as the one an older service keeps for ROOT. The fault's text does not show it. */
export const keyInFile = (path: string): Effect.Effect<string, InvalidInput> =>
  Effect.gen(function* () {
    const cannot = (because: string) => new InvalidInput({ what: `Cannot give ROOT the key in ${path}: ${because}` })
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return yield* cannot("there is no such file")
    const key = yield* Effect.try({ try: () => readKey(path) ?? "", catch: (cause) => cannot(String(cause)) })
    return rootKeyPattern.test(key) ? key : yield* cannot("it does not contain a key of the form ROOT.<40 characters>")
  })

/** Context that ROOT's sealed key is bound to. Part of the stored format. */
export const rootKeyContext = "API key of ROOT"

/** Gives ROOT a key, a new one unless one is given, and writes it to the file; voids the old one. Creates ROOT if missing. */
export const renewRootKey = (
  data: string,
  named?: string,
): Effect.Effect<void, Fault, CredentialHasher | Database | SecretStore | Users> =>
  Effect.gen(function* () {
    const secrets = yield* SecretStore
    const key = named ?? (yield* newApiKey(rootUserId)).key
    yield* keepSealedRootKey(secrets.seal(key, rootKeyContext))
    yield* giveRootKey(key)
    yield* Effect.sync(() => writeKey(rootKeyFile(data), key))
  })

/** ROOT's key as sealed in the database to restore the file; undefined when an older version wrote the database, or it cannot be opened. */
const sealedRootKey = Effect.gen(function* () {
  const secrets = yield* SecretStore
  const sealed = (yield* sealingKey)?.sealedRootKey
  if (sealed === undefined) return undefined
  return yield* Effect.orElseSucceed(secrets.open(sealed, rootKeyContext), () => undefined)
})

/**
 * Creates ROOT, with its key in the file. Instances that start at once on an empty database agree on the key that was stored first: each
 * would void that of another otherwise, whose file says that it is ROOT's.
 */
const createRoot = (data: string): Effect.Effect<void, Fault, CredentialHasher | Database | SecretStore | Users> =>
  Effect.gen(function* () {
    const secrets = yield* SecretStore
    const { key } = yield* newApiKey(rootUserId)
    yield* keepSealedRootKey(secrets.seal(key, rootKeyContext), { first: true })
    const agreed = (yield* sealedRootKey) ?? key
    yield* Effect.catchIf(
      giveRootKey(agreed),
      // by another instance, with this key
      (fault) => fault instanceof UserExists,
      () => Effect.void,
    )
    yield* Effect.sync(() => writeKey(rootKeyFile(data), agreed))
  })

/** State of the file with ROOT's key; `unknown`: the key is neither in the file nor known otherwise. */
export type RootKeyState = "kept" | "made" | "put back" | "unknown"

/**
 * Makes sure that ROOT exists and that its key is in the file. If the file is missing, or holds another key because the database was
 * restored, ROOT's key is written to it again when it is known. An existing key of ROOT is never replaced: that is what the command
 * `root-key` is for. Of several instances that share a database, those that created ROOT have the key.
 */
export const ensureRootKey = (
  data: string,
  database: { readonly shared: boolean },
): Effect.Effect<RootKeyState, Fault, CredentialHasher | Database | SecretStore | Users> =>
  Effect.gen(function* () {
    const users = yield* Users
    const secrets = yield* SecretStore
    const root = yield* users.forAuthentication(rootUserId)
    const hash = root?.secrets.apiKeyHash
    if (hash === undefined) return yield* Effect.as(root === undefined ? createRoot(data) : renewRootKey(data), "made" as const)
    const hasher = yield* CredentialHasher
    const kept = readRootKey(data)
    const known = yield* sealedRootKey
    if (kept !== undefined && hasher.verify(kept, hash)) {
      if (kept !== known) yield* keepSealedRootKey(secrets.seal(kept, rootKeyContext))
      return "kept"
    }
    if (database.shared) return "kept"
    if (known !== undefined && hasher.verify(known, hash)) {
      yield* Effect.sync(() => writeKey(rootKeyFile(data), known))
      return "put back"
    }
    return "unknown"
  })
