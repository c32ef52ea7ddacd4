import {
  type Fault,
  type ImportedRange,
  type ImportedUser,
  isFault,
  type LegacyImport,
  type User,
  userPasswordContext,
} from "@rangewright/domain"
import { Ranges, SecretStore, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { newRecordId, newTokenKey } from "../accounts/identity.ts"
import { emptyRangeConfig } from "../accounts/provision-user.ts"
import { readRangeConfig } from "../range/read-config.ts"

/** Accounts of the first generation are system accounts of the hypervisor. */
const legacyRealm = "pam"

/** The text about what was not imported; a failure of one thing does not stop the others. */
export const attempt = <R>(what: string, effect: Effect.Effect<readonly string[] | void, Fault, R>) =>
  Effect.map(Effect.result(effect), (done): readonly string[] =>
    Result.isFailure(done) ? [`${what}: ${isFault(done.failure) ? done.failure.message : "it failed"}`] : (done.success ?? []),
  )

const importUser = (user: ImportedUser) =>
  Effect.gen(function* () {
    const secrets = yield* SecretStore
    const users = yield* Users
    const now = new Date(yield* Clock.currentTimeMillis)
    const seal = secrets.seal
    return yield* users.create({
      id: user.id,
      recordId: yield* newRecordId,
      name: user.name,
      email: user.email,
      isAdmin: user.isAdmin,
      number: user.number,
      hypervisorUsername: user.hypervisorUsername,
      hypervisorRealm: legacyRealm,
      secrets: {
        apiKeyHash: user.apiKeyHash,
        sealedPassword: user.password === undefined ? undefined : seal(user.password, userPasswordContext(user.id)),
        tokenKey: yield* newTokenKey,
      },
      createdAt: user.createdAt ?? now,
    })
  })

/** The configuration of an imported range: the old one byte for byte, even if today's rules refuse it. */
export const importedConfig = ({ config }: ImportedRange): string => config ?? emptyRangeConfig

/** Creates the range as it was. A configuration that today's rules refuse is stored anyway, and reported. */
const importRange = (range: ImportedRange, owner: User) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const users = yield* Users
    const config = importedConfig(range)
    const made = yield* ranges.create({
      id: range.id,
      recordId: yield* newRecordId,
      number: range.number,
      reservedNumbers: [],
      name: range.name,
      description: "Imported from an older installation",
      purpose: "",
      config,
      createdBy: owner.id,
      owners: [owner.id],
      createdAt: new Date(yield* Clock.currentTimeMillis),
      past: { state: range.state, testing: range.testing, lastDeploymentAt: range.lastDeploymentAt },
    })
    yield* users.change(owner.id, { defaultRangeId: made.id })
    return Result.isSuccess(yield* readRangeConfig(config))
      ? []
      : [`the configuration of range ${made.id}: it was imported unchanged and has errors; PUT /range/config with it lists them`]
  })

/** Numbers of imported users, ranges and further grants. */
export interface ImportedAccounts {
  readonly users: number
  readonly ranges: number
  readonly grants: number
}

/** Carries out the plan as far as possible; failures are reported, and are tried again when the import is repeated. */
export const importAccounts = (plan: LegacyImport) =>
  Effect.gen(function* () {
    const users = yield* Users
    const skipped: string[] = []
    const counts = { users: 0, ranges: 0, grants: 0 }
    for (const user of plan.users) {
      const made = Effect.map(importUser(user), () => void (counts.users += 1))
      skipped.push(...(yield* attempt(`user ${user.id}`, made)))
    }
    for (const range of plan.ranges) {
      const made = Effect.gen(function* () {
        const owner = yield* users.find(range.owner)
        if (owner === undefined) return
        const told = yield* importRange(range, owner)
        counts.ranges += 1
        return told
      })
      skipped.push(...(yield* attempt(`range ${range.id}`, made)))
    }
    for (const { rangeId, userId } of plan.grants) {
      const given = Effect.gen(function* () {
        const ranges = yield* Ranges
        if ((yield* users.find(userId)) !== undefined && (yield* ranges.grant(rangeId, userId))) counts.grants += 1
      })
      skipped.push(...(yield* attempt(`access of ${userId} to range ${rangeId}`, given)))
    }
    for (const { rangeId, userId } of plan.defaults)
      skipped.push(
        ...(yield* attempt(`the default range of ${userId}`, Effect.asVoid(users.change(userId, { defaultRangeId: rangeId })))),
      )
    const accounts: ImportedAccounts = counts
    return { accounts, skipped }
  })
