import {
  type Group,
  GroupExists,
  type GroupMember,
  type GroupName,
  GroupNotFound,
  LastManager,
  type RangeId,
  RangeNotFound,
  UserNotFound,
} from "@rangewright/domain"
import { type GroupOverview, Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import { dropGroupOfBlueprints } from "./blueprints.ts"
import type { MemoryStore, StoredGroup } from "./memory-store.ts"

const managersOf = ({ roles }: StoredGroup): number => [...roles.values()].filter((role) => role === "manager").length

const overviewOf = (stored: StoredGroup): GroupOverview => {
  const managers = managersOf(stored)
  return { ...stored.group, members: stored.roles.size - managers, managers, ranges: stored.ranges.size }
}

const byName = (a: Group, b: Group): number => (a.name < b.name ? -1 : 1)
const newestFirst = (a: Group, b: Group): number => b.createdAt.getTime() - a.createdAt.getTime() || byName(a, b)
const membersFirst = (a: GroupMember, b: GroupMember): number =>
  a.role === b.role ? (a.userId < b.userId ? -1 : 1) : a.role === "member" ? -1 : 1

export const groupsLayer = (store: MemoryStore): Layer.Layer<Groups> => {
  const { atomically, change } = writesTo(store)
  const known = (name: GroupName) => {
    const found = store.groups.get(name)
    return found === undefined ? Result.fail(new GroupNotFound({ group: name })) : Result.succeed(found)
  }
  const numberOf = (id: RangeId): number => store.ranges.get(id)?.number ?? 0

  return Layer.succeed(Groups, {
    find: (name) => Effect.sync(() => store.groups.get(name)?.group),
    list: (filter = {}) =>
      Effect.sync(() =>
        [...store.groups.values()]
          .filter(({ roles }) => filter.for === undefined || roles.has(filter.for))
          .map(overviewOf)
          .sort(byName),
      ),
    create: (group) =>
      atomically(function* () {
        if (store.groups.has(group.name)) return yield* Result.fail(new GroupExists({ group: group.name }))
        store.groups.set(group.name, { group, roles: new Map(), ranges: new Set() })
        return group
      }),
    remove: (name) =>
      change(() => {
        if (store.groups.delete(name)) store.revision++
        store.groupQuotas.delete(name)
        dropGroupOfBlueprints(store, name)
      }),
    members: (name) =>
      Effect.sync(() =>
        [...(store.groups.get(name)?.roles ?? [])]
          .map(([userId, role]) => ({ userId, name: store.users.get(userId)?.user.name ?? "", role }))
          .sort(membersFirst),
      ),
    roleOf: (name, userId) => Effect.sync(() => store.groups.get(name)?.roles.get(userId)),
    memberships: (userId) =>
      Effect.sync(() =>
        [...store.groups.values()]
          .flatMap(({ group, roles }) => {
            const role = roles.get(userId)
            return role === undefined ? [] : [{ group, role }]
          })
          .sort((a, b) => newestFirst(a.group, b.group)),
      ),
    setRoles: (name, wanted, { keepManager = false, from } = {}) =>
      atomically(function* () {
        const stored = yield* known(name)
        const roles = new Map(stored.roles)
        const changing = [...wanted].filter(([userId]) => from === undefined || roles.get(userId) === from.get(userId))
        for (const [userId, role] of changing) {
          if (role !== undefined && !store.users.has(userId)) return yield* Result.fail(new UserNotFound({ userId }))
          if (role === undefined) roles.delete(userId)
          else roles.set(userId, role)
        }
        const changed = { ...stored, roles }
        if (keepManager && managersOf(stored) > 0 && managersOf(changed) === 0)
          return yield* Result.fail(new LastManager({ group: name }))
        store.groups.set(name, changed)
        store.revision++
        return changing.map(([userId]) => userId)
      }),
    setNotice: (notice) =>
      atomically(function* () {
        const stored = yield* known(notice.group)
        store.groups.set(notice.group, { ...stored, notice })
        store.revision++
      }),
    removeNotice: (name) =>
      change(() => {
        const { notice, ...rest } = store.groups.get(name) ?? {}
        if (notice === undefined) return
        store.groups.set(name, rest as StoredGroup)
        store.revision++
      }),
    notices: (filter = {}) =>
      Effect.sync(() =>
        [...store.groups.values()]
          .filter(({ roles }) => filter.for === undefined || roles.has(filter.for))
          .flatMap(({ notice }) => notice ?? [])
          .sort((a, b) => (a.group < b.group ? -1 : 1)),
      ),
    ranges: (name) => Effect.sync(() => [...(store.groups.get(name)?.ranges ?? [])].sort((a, b) => numberOf(a) - numberOf(b))),
    addRange: (name, rangeId) =>
      atomically(function* () {
        const { ranges } = yield* known(name)
        if (!store.ranges.has(rangeId)) return yield* Result.fail(new RangeNotFound({ rangeId }))
        if (ranges.has(rangeId)) return false
        ranges.add(rangeId)
        store.revision++
        return true
      }),
    removeRange: (name, rangeId) =>
      change(() => {
        const went = store.groups.get(name)?.ranges.delete(rangeId) === true
        if (went) store.revision++
        return went
      }),
  })
}
