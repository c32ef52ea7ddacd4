import {
  accountIdOf,
  InvalidInput,
  RangeExists,
  type RangeId,
  UserExists,
  hypervisorUsernameOf,
  type User,
  type UserId,
  userPasswordContext,
} from "@rangewright/domain"
import { CredentialHasher, Ranges, SecretStore, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { AccessControl } from "../rights/access-control.ts"
import { bringInLine, ofAccounts, ofRange } from "../rights/in-line.ts"
import { whenInstallationIdle } from "../run/installation-gate.ts"
import { Settings } from "../settings.ts"
import { giveVpnKey } from "../vpn/keys.ts"
import { checkUserDraft, type UserDraft } from "./check-user.ts"
import { newApiKey, newRecordId, newTokenKey } from "./identity.ts"
import { storeRange } from "./make-range.ts"

export interface ProvisionedUser {
  readonly user: User
  /** Shown once; only its hash is kept. */
  readonly apiKey: string
}

/** Configuration of a range that was not given one. */
export const emptyRangeConfig = "ludus: []\n"

/** The hypervisor account for the user. Fails when it, or another value that must be unique, is taken. */
const freeAccount = (draft: UserDraft, id: UserId) =>
  Effect.gen(function* () {
    const { hypervisorRealm: realm } = yield* Settings
    const users = yield* Users
    const control = yield* AccessControl
    const account = { username: hypervisorUsernameOf(draft.name, id), realm }
    for (const other of yield* users.list) {
      if (other.id.toLowerCase() === id.toLowerCase()) return yield* new UserExists({ field: "userID", value: id })
      if (other.hypervisorUsername === account.username) return yield* new UserExists({ field: "name", value: draft.name })
      if (other.email.toLowerCase() === draft.email.toLowerCase())
        return yield* new UserExists({ field: "email", value: draft.email })
    }
    const name = accountIdOf({ hypervisorUsername: account.username, hypervisorRealm: account.realm })
    if ((yield* control.account(name)) !== undefined)
      return yield* new InvalidInput({ what: `Cannot create user ${id}: the hypervisor has an account ${name} already` })
    return account
  })

/**
 * Creates a user: the row, the account on the hypervisor and a default range named like the user. Everything is checked before anything is
 * created, and a failure on the hypervisor leaves nothing behind. Waits first while a run changes the whole installation.
 */
export const provisionUser = (draft: UserDraft & { readonly isAdmin: boolean }, by: UserId) =>
  Effect.gen(function* () {
    const secrets = yield* SecretStore
    const issues = checkUserDraft(draft)
    if (issues.length > 0)
      return yield* new InvalidInput({ what: `Cannot create the user: ${issues.map((i) => i.message).join("; ")}`, issues })
    const users = yield* Users
    const id = draft.userId as UserId
    const account = yield* whenInstallationIdle(`create user ${id}`, () => freeAccount(draft, id))
    const { key, hash } = yield* newApiKey(id)
    const hasher = yield* CredentialHasher
    const password = draft.password === undefined || draft.password === "" ? hasher.randomText(15) : draft.password
    const created = yield* users.create({
      id,
      recordId: yield* newRecordId,
      name: draft.name,
      email: draft.email,
      isAdmin: draft.isAdmin,
      hypervisorUsername: account.username,
      hypervisorRealm: account.realm,
      secrets: {
        apiKeyHash: hash,
        sealedPassword: secrets.seal(password, userPasswordContext(id)),
        tokenKey: yield* newTokenKey,
      },
      createdAt: new Date(yield* Clock.currentTimeMillis),
    })
    const inLine = bringInLine({
      doing: `create user ${id}`,
      by,
      concerns: (change, desired) =>
        ofAccounts([accountIdOf(created)], { passwords: true })(change, desired) ||
        ofRange(id as string as RangeId)(change, desired),
    })
    const provision = Effect.gen(function* () {
      yield* giveVpnKey(id)
      const range = yield* storeRange({
        id,
        number: undefined,
        name: `Default range of ${draft.name}`,
        description: "",
        purpose: "",
        config: emptyRangeConfig,
        createdBy: created,
        owners: [created],
      }).pipe(
        Effect.catchIf(
          (f): f is RangeExists => f instanceof RangeExists,
          (f) => Effect.fail(new InvalidInput({ what: `Cannot create user ${id}: ${f.message}` })),
        ),
      )
      yield* Effect.onError(inLine, () => Effect.ignore(Ranges.use((ranges) => ranges.remove(range.id))))
      return yield* users.change(id, { defaultRangeId: range.id })
    })
    const undo = Effect.ignore(Effect.andThen(users.remove(id), inLine))
    const user = yield* provision.pipe(Effect.onError(() => undo))
    const provisioned: ProvisionedUser = { user, apiKey: key }
    return provisioned
  })
