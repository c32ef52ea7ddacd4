import { accountIdOf, type RangeId, rangeOf, rootUserId, type StoredAccess, type UserId, type Vmid } from "@rangewright/domain"
import { AccessRecords, StaleVersion } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import type { MemoryStore } from "./memory-store.ts"

/** The users of a range by any path, without duplicates. */
export const usersOf = ({ grants, groups }: MemoryStore, id: RangeId): readonly UserId[] => {
  const throughGroups = [...groups.values()].flatMap(({ ranges, roles }) => (ranges.has(id) ? [...roles.keys()] : []))
  return [...new Set([...(grants.get(id) ?? []), ...throughGroups])].sort()
}

const machinesOf = ({ machines }: MemoryStore, id: RangeId): readonly Vmid[] =>
  [...machines.values()]
    .flatMap(({ machine: { vmid, pool, template } }) => (pool === id && !template ? [vmid] : []))
    .sort((a, b) => a - b)

const storedAccess = (store: MemoryStore, concerned: (range: RangeId) => boolean): StoredAccess => {
  const leaving = new Set(
    [...store.runs.values()].flatMap(({ record }) =>
      record.status === "running" && record.kind === "delete-range" ? [rangeOf(record)] : [],
    ),
  )
  return {
    users: [...store.users.values()]
      .filter(({ user }) => user.id !== rootUserId)
      .sort((a, b) => a.user.number - b.user.number)
      .map(({ user }) => ({
        id: user.id,
        account: accountIdOf(user),
        isAdmin: user.isAdmin,
        passwordVersion: store.passwordVersions.get(user.id) ?? "",
      })),
    ranges: [...store.ranges.values()]
      .filter(({ id }) => concerned(id))
      .sort((a, b) => a.number - b.number)
      .map(({ id, number }) => ({
        id,
        number,
        users: usersOf(store, id),
        machines: machinesOf(store, id),
        leaving: leaving.has(id),
      })),
  }
}

export const accessRecordsLayer = (store: MemoryStore): Layer.Layer<AccessRecords> => {
  const { atomically, change } = writesTo(store)
  return Layer.succeed(AccessRecords, {
    stored: Effect.sync(() => storedAccess(store, () => true)),
    withoutMachines: Effect.sync(() => {
      const { users, ranges } = storedAccess(store, () => true)
      return { users, ranges: ranges.map((range) => ({ ...range, machines: [] })) }
    }),
    storedOf: (range) => Effect.sync(() => storedAccess(store, (id) => id === range)),
    held: Effect.sync(() => store.held),
    hold: (held, version) =>
      atomically(function* () {
        if (store.held.version !== version)
          return yield* Result.fail(new StaleVersion({ what: "the record of rights granted on the hypervisor" }))
        store.held = { held, version: version + 1 }
      }),
    told: Effect.sync(() => new Map(store.told)),
    tell: (range, users) => change(() => void (store.ranges.has(range) && store.told.set(range, users))),
  })
}
