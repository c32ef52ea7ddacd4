import {
  accessTypeOf,
  type AccessType,
  allocateRangeNumber,
  type Grant,
  isNewer,
  newlyMadeRange,
  noAmounts,
  RangeExists,
  type RangeId,
  rangeIdKey,
  refusedRange,
  RangeNotFound,
  setBackBy,
  takenRangeId,
  type UserId,
  UserNotFound,
} from "@rangewright/domain"
import { ConfigChanged, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import { machinesOf } from "./machines.ts"
import { quotaFacts } from "./quotas.ts"
import { dropRange, type MemoryStore, writeRange } from "./memory-store.ts"

const byUserThenType = (a: Grant, b: Grant): number =>
  a.userId === b.userId ? (a.accessType < b.accessType ? -1 : 1) : a.userId < b.userId ? -1 : 1
const byNumber = (a: { readonly number: number }, b: { readonly number: number }): number => a.number - b.number

export const rangesLayer = (store: MemoryStore): Layer.Layer<Ranges> => {
  const { atomically, change } = writesTo(store)
  const known = (id: RangeId) => {
    const found = store.ranges.get(id)
    return found === undefined ? Result.fail(new RangeNotFound({ rangeId: id })) : Result.succeed(found)
  }
  const knownUser = (id: UserId) => {
    const found = store.users.get(id)
    return found === undefined ? Result.fail(new UserNotFound({ userId: id })) : Result.succeed(found.user)
  }
  const hasDirectly = (rangeId: RangeId, userId: UserId) => store.grants.get(rangeId)?.has(userId) === true
  const has = (rangeId: RangeId, userId: UserId) =>
    hasDirectly(rangeId, userId) ||
    [...store.groups.values()].some(({ roles, ranges }) => ranges.has(rangeId) && roles.has(userId))
  const select = (filter: { readonly for?: UserId; readonly rangeId?: RangeId }) =>
    [...store.ranges.values()]
      .filter((range) => filter.rangeId === undefined || range.id === filter.rangeId)
      .filter((range) => filter.for === undefined || has(range.id, filter.for))
      .sort(byNumber)
  const grantsOn = (rangeId: RangeId): readonly Grant[] => {
    const toGrant = (userId: UserId, accessType: AccessType): readonly Grant[] => {
      const user = store.users.get(userId)?.user
      return user === undefined ? [] : [{ userId, userNumber: user.number, name: user.name, rangeId, accessType }]
    }
    const direct = [...(store.grants.get(rangeId) ?? [])].flatMap((userId) => toGrant(userId, "Direct"))
    const groups = [...store.groups.values()].filter(({ ranges }) => ranges.has(rangeId))
    const byGroup = groups.flatMap(({ roles }) => [...roles].flatMap(([userId, role]) => toGrant(userId, accessTypeOf(role))))
    return [...direct, ...byGroup].sort(byUserThenType)
  }

  return Layer.succeed(Ranges, {
    find: (id) => Effect.sync(() => store.ranges.get(id)),
    findByRecordId: (id) => Effect.sync(() => [...store.ranges.values()].find((range) => range.recordId === id)),
    list: (filter = {}) => Effect.sync(() => select(filter)),
    overview: (filter) => Effect.sync(() => select(filter).map((range) => ({ range, machines: machinesOf(store, range.id) }))),
    revision: Effect.sync(() => store.revision),
    create: ({ config, owners, reservedNumbers, number: requested, systemLimits = noAmounts, ...draft }) =>
      atomically(function* () {
        if ([...store.ranges.keys()].some((id) => rangeIdKey(id) === rangeIdKey(draft.id)))
          return yield* Result.fail(new RangeExists({ what: takenRangeId(draft.id) }))
        const taken = new Set([...store.ranges.values()].map((range) => range.number))
        const number = yield* allocateRangeNumber({ id: draft.id, number: requested, reservedNumbers }, taken)
        for (const userId of draft.createdBy === undefined ? owners : [...owners, draft.createdBy]) yield* knownUser(userId)
        const range = newlyMadeRange(draft, number, owners)
        const refused = refusedRange(quotaFacts(store), { id: range.id, payer: range.madeFor }, systemLimits)
        if (refused !== undefined) return yield* Result.fail(refused)
        store.ranges.set(range.id, range)
        store.configs.set(range.id, { text: config, updatedAt: range.createdAt })
        // what an older service deployed
        if (range.takenOver) store.deployedConfigs.set(range.id, config)
        store.grants.set(range.id, new Set(owners))
        store.revision++
        return range
      }),
    change: (id, change) =>
      atomically(function* (now) {
        const { thumbnail: picture, ...said } = change
        const range = { ...(yield* known(id)), ...said }
        if (!("thumbnail" in change)) return writeRange(store, range, now)
        if (picture === undefined) store.pictures.delete(id)
        else store.pictures.set(id, picture)
        return writeRange(store, { ...range, thumbnail: picture?.name }, now)
      }),
    stayOn: (id, until) =>
      atomically(function* (now) {
        const range = yield* known(id)
        return isNewer(until, range.stayOnUntil, setBackBy.stayOn)
          ? writeRange(store, { ...range, stayOnUntil: until }, now)
          : range
      }),
    thumbnail: (recordId, name) =>
      Effect.sync(() => {
        const range = [...store.ranges.values()].find((one) => one.recordId === recordId)
        return range?.thumbnail === name ? store.pictures.get(range.id) : undefined
      }),
    pictureSizes: (payer) =>
      Effect.sync(() =>
        quotaFacts(store)
          .ranges.filter((range) => range.payer === payer)
          .flatMap(({ id }) => {
            const { recordId } = store.ranges.get(id) ?? {}
            const bytes = store.pictures.get(id)?.bytes.length
            return recordId === undefined || bytes === undefined ? [] : [{ id, recordId, bytes }]
          })
          .sort((a, b) => (a.recordId < b.recordId ? -1 : 1)),
      ),
    remove: (id) => change(() => (store.ranges.has(id) ? dropRange(store, id) : undefined)),
    config: (id) =>
      Effect.sync(() => {
        const { text, updatedAt } = store.configs.get(id) ?? {}
        return text === undefined || updatedAt === undefined ? undefined : { text, updatedAt }
      }),
    deployedConfig: (id) => Effect.sync(() => store.deployedConfigs.get(id) ?? store.configs.get(id)?.text),
    setConfig: (id, text, { by, replaces } = {}) =>
      atomically(function* (now) {
        yield* known(id)
        const stored = store.configs.get(id)
        if (stored !== undefined && replaces?.(stored.text) === false)
          return yield* Result.fail(new ConfigChanged({ what: `range ${id}`, by: stored.updatedBy, at: stored.updatedAt }))
        store.configs.set(id, { text, updatedAt: now, updatedBy: by })
        store.revision++
      }),
    inspection: (id) => Effect.sync(() => store.inspections.get(id)),
    keepInspection: (id, inspection) =>
      atomically(function* (now) {
        const range = store.ranges.get(id)
        if (range === undefined) return false
        store.inspections.set(id, inspection)
        if (inspection.rules === "as-loaded" || range.testing.mode !== "on") return false
        writeRange(store, { ...range, testing: { ...range.testing, mode: "entering" } }, now)
        return true
      }),
    grants: (id) => Effect.sync(() => grantsOn(id)),
    grantsOf: (userId) =>
      Effect.sync(() =>
        select({ for: userId }).flatMap((range) =>
          grantsOn(range.id).flatMap((grant) => (grant.userId === userId ? [{ ...grant, rangeNumber: range.number }] : [])),
        ),
      ),
    grant: (id, userId) =>
      atomically(function* () {
        yield* known(id)
        yield* knownUser(userId)
        if (hasDirectly(id, userId)) return false
        store.grants.set(id, new Set(store.grants.get(id)).add(userId))
        const range = yield* known(id)
        if (range.madeFor === undefined) store.ranges.set(id, { ...range, madeFor: userId })
        store.revision++
        return true
      }),
    revoke: (id, userId) =>
      change(() => {
        const went = store.grants.get(id)?.delete(userId) === true
        if (went) store.revision++
        return went
      }),
    touch: (stamps) =>
      change(() => {
        for (const [id, at] of stamps) {
          const range = store.ranges.get(id)
          if (range === undefined || !isNewer(at, range.lastActiveAt, setBackBy.lastActive)) continue
          store.ranges.set(id, { ...range, lastActiveAt: at })
          store.revision++
        }
      }),
  })
}
