import { type Database, keepSealedRootKey, sealingKey } from "@rangewright/adapter-storage"
import { InvalidInput, rootUserId, type Fault } from "@rangewright/domain"
import { newApiKey, newRecordId, newTokenKey } from "@rangewright/application"
import { CredentialHasher, SecretStore, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname } from "node:path"
import { rootKeyFile } from "./data-folder.ts"
import { giveToOwnerOf } from "./owner.ts"

const readKey = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, "utf8").trim() : undefined)

/** ROOT's key as it is in its file. */
export const readRootKey = (data: string): string | undefined => readKey(rootKeyFile(data))

/** Whole or not at all: written beside, then renamed. */
const writeKey = (path: string, key: string): void => {
  const beside = `${path}.new`
  rmSync(beside, { force: true })
  writeFileSync(beside, `${key}\n`, { mode: 0o400, flag: "wx" })
  giveToOwnerOf(dirname(path), [basename(beside)])
  renameSync(beside, path)
}

/** What ROOT's key may look like: also one of the first generation, whose 40 characters are of any printable kind but a dot. */
const rootKeyPattern = new RegExp(`^${rootUserId}\\.[!-\\-/-~]{40}$`, "u")

/** The key in a file, such as an older service keeps for ROOT. The text of a fault does not show it. */
export const keyInFile = (path: string): Effect.Effect<string, InvalidInput> =>
  Effect.gen(function* () {
    const cannot = (because: string) => new InvalidInput({ what: `Cannot give ROOT the key in ${path}: ${because}` })
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return yield* cannot("there is no such file")
    const key = yield* Effect.try({ try: () => readKey(path) ?? "", catch: (cause) => cannot(String(cause)) })
    return rootKeyPattern.test(key) ? key : yield* cannot("it does not contain a key of the form ROOT.<40 characters>")
  })

/** What ROOT's sealed key is bound to. Part of the stored format. */
export const rootKeyContext = "API key of ROOT"

/** Gives ROOT a key, a fresh one where none is named, and keeps it in the file; the old one is void. Makes ROOT when there is none. */
export const renewRootKey = (
  data: string,
  named?: string,
): Effect.Effect<void, Fault, CredentialHasher | Database | SecretStore | Users> =>
  Effect.gen(function* () {
    const users = yield* Users
    const hasher = yield* CredentialHasher
    const secrets = yield* SecretStore
    const { key, hash } = named === undefined ? yield* newApiKey(rootUserId) : { key: named, hash: hasher.hash(named) }
    yield* keepSealedRootKey(secrets.seal(key, rootKeyContext))
    if ((yield* users.find(rootUserId)) !== undefined) yield* users.setSecrets(rootUserId, { apiKeyHash: hash })
    else
      yield* users.create({
        id: rootUserId,
        recordId: yield* newRecordId,
        name: "root",
        email: "root@rangewright.internal",
        isAdmin: true,
        hypervisorUsername: "root",
        hypervisorRealm: "pam",
        secrets: { apiKeyHash: hash, sealedPassword: undefined, tokenKey: yield* newTokenKey },
        createdAt: new Date(yield* Clock.currentTimeMillis),
      })
    yield* Effect.sync(() => writeKey(rootKeyFile(data), key))
  })

/** ROOT's key as the database keeps it for the file; undefined where an older version wrote it, or it cannot be opened. */
const sealedRootKey = Effect.gen(function* () {
  const secrets = yield* SecretStore
  const sealed = (yield* sealingKey)?.sealedRootKey
  if (sealed === undefined) return undefined
  return yield* Effect.orElseSucceed(secrets.open(sealed, rootKeyContext), () => undefined)
})

/** What became of the file of ROOT's key; `unknown`: it is not in the file, nor known otherwise. */
export type RootKeyState = "kept" | "made" | "put back" | "unknown"

/**
 * Makes sure that ROOT exists and that its key is in the file. A file that is missing, or that holds another key because the database
 * was restored, gets ROOT's key again where that is known. A key that ROOT has is never replaced by a new one: that is what the command
 * `root-key` is for. With a database that several instances share, one of them keeps the key.
 */
export const ensureRootKey = (
  data: string,
  database: { readonly shared: boolean },
): Effect.Effect<RootKeyState, Fault, CredentialHasher | Database | SecretStore | Users> =>
  Effect.gen(function* () {
    const users = yield* Users
    const secrets = yield* SecretStore
    const hash = (yield* users.forAuthentication(rootUserId))?.secrets.apiKeyHash
    if (hash === undefined) return yield* Effect.as(renewRootKey(data), "made" as const)
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
