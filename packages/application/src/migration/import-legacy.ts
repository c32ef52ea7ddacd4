import {
  type Fault,
  type ImportedRange,
  type ImportedUser,
  isFault,
  type LegacyImport,
  planImport,
  type User,
} from "@rangewright/domain"
import { HypervisorAccess, LegacyData, Ranges, SecretStore, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { newRecordId, newTokenKey, passwordContext } from "../accounts/identity.ts"
import { emptyRangeConfig } from "../accounts/provision-user.ts"
import { onceAtRest } from "../run/installation-gate.ts"
import { readRangeConfig } from "../range/read-config.ts"
import * as Result from "effect/Result"

/** Accounts of the first generation are those of the hypervisor's system. */
const legacyRealm = "pam"

const importUser = (user: ImportedUser) =>
  Effect.gen(function* () {
    const now = new Date(yield* Clock.currentTimeMillis)
    const seal = (yield* SecretStore).seal
    return yield* (yield* Users).create({
      id: user.id,
      recordId: yield* newRecordId,
      name: user.name,
      email: user.email,
      isAdmin: user.isAdmin,
      ...(user.number === undefined ? {} : { number: user.number }),
      hypervisorUsername: user.hypervisorUsername,
      hypervisorRealm: legacyRealm,
      secrets: {
        apiKeyHash: user.apiKeyHash,
        sealedPassword: user.password === undefined ? undefined : seal(user.password, passwordContext(user.id)),
        tokenKey: yield* newTokenKey,
      },
      createdAt: user.createdAt ?? now,
    })
  })

/** Makes the range as it was; a configuration that cannot be read any more is left out, and the text says so. */
const importRange = (range: ImportedRange, owner: User) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const readable = range.config !== undefined && Result.isSuccess(yield* readRangeConfig(range.config))
    const made = yield* ranges.create({
      id: range.id,
      recordId: yield* newRecordId,
      number: range.number,
      reservedNumbers: [],
      name: range.name,
      description: "Taken over from an older installation",
      purpose: "",
      config: readable && range.config !== undefined ? range.config : emptyRangeConfig,
      createdBy: owner.id,
      owners: [owner.id],
      createdAt: new Date(yield* Clock.currentTimeMillis),
    })
    if (range.testing.enabled) yield* ranges.change(made.id, { testing: range.testing })
    yield* (yield* Users).change(owner.id, { defaultRangeId: made.id })
    return range.config === undefined || readable ? [] : [`the configuration of range ${made.id}: it cannot be read`]
  })

/** Gives the account the use of the range's pool, where the hypervisor has one. */
const grantPool = (range: ImportedRange, user: User) =>
  Effect.gen(function* () {
    const access = yield* HypervisorAccess
    if (!(yield* access.poolExists(range.id))) return
    yield* access.grant(range.id, [{ username: user.hypervisorUsername, realm: user.hypervisorRealm }], undefined)
  })

/** What was not taken over, beside what was; a failure of one user does not keep the others back. */
const attempt = <R>(what: string, effect: Effect.Effect<readonly string[] | void, Fault, R>) =>
  Effect.map(Effect.result(effect), (done) =>
    Result.isFailure(done) ? [`${what}: ${isFault(done.failure) ? done.failure.message : "it failed"}`] : (done.success ?? []),
  )

const carryOut = (plan: LegacyImport) =>
  Effect.gen(function* () {
    const users = yield* Users
    const skipped: string[] = [...plan.skipped]
    const counts = { users: 0, ranges: 0, grants: 0 }
    for (const user of plan.users) {
      const made = Effect.map(importUser(user), () => void (counts.users += 1))
      skipped.push(...(yield* attempt(`user ${user.id}`, made)))
    }
    for (const range of plan.ranges) {
      const made = Effect.gen(function* () {
        const owner = yield* users.find(range.owner)
        if (owner === undefined) return []
        const lost = yield* importRange(range, owner)
        counts.ranges += 1
        return [...lost, ...(yield* attempt(`the rights of ${owner.id} on the pool ${range.id}`, grantPool(range, owner)))]
      })
      skipped.push(...(yield* attempt(`range ${range.id}`, made)))
    }
    for (const { rangeId, userId } of plan.grants) {
      const given = Effect.gen(function* () {
        if ((yield* users.find(userId)) !== undefined && (yield* (yield* Ranges).grant(rangeId, userId))) counts.grants += 1
      })
      skipped.push(...(yield* attempt(`access of ${userId} to range ${rangeId}`, given)))
    }
    return { counts, skipped }
  })

/** What there is here already. */
const target = Effect.gen(function* () {
  const ranges = yield* (yield* Ranges).list()
  const grants = yield* Effect.forEach(ranges, (range) => Ranges.use((all) => all.grants(range.id)))
  return {
    users: yield* (yield* Users).list,
    ranges,
    grants: grants.flat().filter(({ accessType }) => accessType === "Direct"),
  }
})

const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`

/**
 * Takes users, keys, ranges and accesses over from an installation of the first generation, as far as they are not here. Safe to repeat;
 * the old data is only read. The text tells what was done and what was not. With `dryRun` nothing is changed.
 */
export const importLegacy = (dryRun: boolean) =>
  Effect.gen(function* () {
    const { place, read } = yield* LegacyData
    const legacy = yield* read
    if (legacy === undefined) return `Nothing to migrate: there is no database of an older installation (${place}).`
    const ours = yield* dryRun ? target : onceAtRest("take an older installation over", () => target)
    const plan = planImport(legacy, ours)
    const { counts, skipped } = dryRun
      ? { counts: { users: plan.users.length, ranges: plan.ranges.length, grants: plan.grants.length }, skipped: plan.skipped }
      : yield* carryOut(plan)
    const accesses = count(counts.grants, "further access", "further accesses")
    const what = `${count(counts.users, "user")}, ${count(counts.ranges, "range")} and ${accesses}`
    return [
      dryRun ? `The migration would take over ${what}.` : `The migration is complete: ${what} taken over.`,
      ...skipped.map((one) => `! ${one}`),
    ].join("\n")
  })
