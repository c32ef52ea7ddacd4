import { InvalidInput, rootUserId, type Fault } from "@rangewright/domain"
import { newApiKey, newRecordId, newTokenKey } from "@rangewright/application"
import { CredentialHasher, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Where ROOT's key is kept for the operator, mode 0400. */
export const rootKeyFile = (data: string): string => join(data, "root-api-key")

const readKey = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, "utf8").trim() : undefined)

/** Whole or not at all: written beside, then renamed. */
const writeKey = (path: string, key: string): void => {
  const beside = `${path}.new`
  rmSync(beside, { force: true })
  writeFileSync(beside, `${key}\n`, { mode: 0o400, flag: "wx" })
  renameSync(beside, path)
}

/** What ROOT's key may look like: also one of the first generation, whose 40 characters are of any printable kind but a dot (contract A 3.1). */
const rootKeyPattern = new RegExp(`^${rootUserId}\\.[!-\\-/-~]{40}$`, "u")

/** The key in a file, such as an older service keeps for ROOT. The text of a fault does not show it. */
export const keyInFile = (path: string): Effect.Effect<string, InvalidInput> =>
  Effect.gen(function* () {
    const cannot = (because: string) => new InvalidInput({ what: `Cannot give ROOT the key in ${path}: ${because}` })
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return yield* cannot("there is no such file")
    const key = yield* Effect.try({ try: () => readKey(path) ?? "", catch: (cause) => cannot(String(cause)) })
    return rootKeyPattern.test(key) ? key : yield* cannot("it holds none of the form ROOT.<40 characters>")
  })

/** Gives ROOT a key, a fresh one where none is named, and keeps it in the file; the old one is void. Makes ROOT when there is none. */
export const renewRootKey = (data: string, named?: string): Effect.Effect<void, Fault, Users | CredentialHasher> =>
  Effect.gen(function* () {
    const users = yield* Users
    const hasher = yield* CredentialHasher
    const { key, hash } = named === undefined ? yield* newApiKey(rootUserId) : { key: named, hash: hasher.hash(named) }
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

/**
 * Makes sure that ROOT exists and that its key is in the file. A file that was removed gets a new key, and the old one is void: the way
 * back for an operator who lost it (contract A 11). With a database that several instances share, one of them keeps the key, and
 * only the command `root-key` makes a new one. Returns whether a key was written.
 */
export const ensureRootKey = (
  data: string,
  database: { readonly shared: boolean },
): Effect.Effect<boolean, Fault, Users | CredentialHasher> =>
  Effect.gen(function* () {
    const hash = (yield* (yield* Users).forAuthentication(rootUserId))?.secrets.apiKeyHash
    const kept = readKey(rootKeyFile(data))
    const hasher = yield* CredentialHasher
    if (hash !== undefined && (database.shared || (kept !== undefined && hasher.verify(kept, hash)))) return false
    yield* renewRootKey(data)
    return true
  })
