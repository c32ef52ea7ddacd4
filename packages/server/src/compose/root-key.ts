import { rootUserId, type Fault } from "@rangewright/domain"
import { newApiKey, newRecordId, newTokenKey } from "@rangewright/application"
import { CredentialHasher, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
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

/**
 * Makes sure that ROOT exists and that its key is in the file. A file that was removed gets a new key, and the old one is void: the way
 * back for an operator who lost it (contract A 11). Returns whether a key was written.
 */
export const ensureRootKey = (data: string): Effect.Effect<boolean, Fault, Users | CredentialHasher> =>
  Effect.gen(function* () {
    const users = yield* Users
    const hasher = yield* CredentialHasher
    const path = rootKeyFile(data)
    const found = yield* users.forAuthentication(rootUserId)
    const kept = readKey(path)
    if (
      found !== undefined &&
      kept !== undefined &&
      found.secrets.apiKeyHash !== undefined &&
      hasher.verify(kept, found.secrets.apiKeyHash)
    )
      return false
    const { key, hash } = yield* newApiKey(rootUserId)
    if (found === undefined)
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
    else yield* users.setSecrets(rootUserId, { apiKeyHash: hash })
    yield* Effect.sync(() => writeKey(path, key))
    return true
  })
