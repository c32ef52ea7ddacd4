import {
  type Blueprint,
  BlueprintExists,
  type BlueprintId,
  BlueprintNotFound,
  GroupNotFound,
  UserNotFound,
} from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { atomically } from "./atomically.ts"
import type { MemoryStore } from "./memory-store.ts"

const lastChangedFirst = (a: Blueprint, b: Blueprint): number =>
  b.updatedAt.getTime() - a.updatedAt.getTime() || (a.id < b.id ? -1 : 1)

const withItem = <A extends string>(items: readonly A[], item: A): readonly A[] => [...items, item].sort()
const withoutItem = <A extends string>(items: readonly A[], item: A): readonly A[] => items.filter((other) => other !== item)

export const blueprintsLayer = (store: MemoryStore): Layer.Layer<Blueprints> => {
  const known = (id: BlueprintId) => {
    const found = store.blueprints.get(id)
    return found === undefined ? Result.fail(new BlueprintNotFound({ blueprint: id })) : Result.succeed(found)
  }
  const put = (blueprint: Blueprint, config: string): Blueprint => {
    store.blueprints.set(blueprint.id, { blueprint, config })
    return blueprint
  }

  return Layer.succeed(Blueprints, {
    find: (id) => Effect.sync(() => store.blueprints.get(id)?.blueprint),
    findByRecordId: (id) =>
      Effect.sync(() => [...store.blueprints.values()].find(({ blueprint }) => blueprint.recordId === id)?.blueprint),
    list: (filter = {}) =>
      Effect.sync(() => {
        const user = filter.for
        const all = [...store.blueprints.values()].map(({ blueprint }) => blueprint).sort(lastChangedFirst)
        if (user === undefined) return all
        return all.filter(
          ({ owner, sharedUsers, sharedGroups }) =>
            owner === user ||
            sharedUsers.includes(user) ||
            sharedGroups.some((name) => store.groups.get(name)?.roles.has(user) === true),
        )
      }),
    create: ({ config, ...blueprint }) =>
      atomically(function* () {
        if (!store.users.has(blueprint.owner)) return yield* Result.fail(new UserNotFound({ userId: blueprint.owner }))
        if (store.blueprints.has(blueprint.id)) return yield* Result.fail(new BlueprintExists({ blueprint: blueprint.id }))
        return put({ ...blueprint, sharedUsers: [], sharedGroups: [], updatedAt: blueprint.createdAt }, config)
      }),
    change: (id, change) =>
      atomically(function* (updatedAt) {
        const { blueprint, config } = yield* known(id)
        return put({ ...blueprint, ...change, updatedAt }, config)
      }),
    config: (id) => Effect.sync(() => store.blueprints.get(id)?.config),
    setConfig: (id, text) =>
      atomically(function* (updatedAt) {
        const { blueprint } = yield* known(id)
        put({ ...blueprint, updatedAt }, text)
      }),
    remove: (id) => Effect.sync(() => void store.blueprints.delete(id)),
    shareWithUser: (id, userId) =>
      atomically(function* () {
        const { blueprint, config } = yield* known(id)
        if (!store.users.has(userId)) return yield* Result.fail(new UserNotFound({ userId }))
        if (blueprint.sharedUsers.includes(userId)) return false
        put({ ...blueprint, sharedUsers: withItem(blueprint.sharedUsers, userId) }, config)
        return true
      }),
    unshareWithUser: (id, userId) =>
      Effect.sync(() => {
        const found = store.blueprints.get(id)
        if (found?.blueprint.sharedUsers.includes(userId) !== true) return false
        const { blueprint, config } = found
        put({ ...blueprint, sharedUsers: withoutItem(blueprint.sharedUsers, userId) }, config)
        return true
      }),
    shareWithGroup: (id, group) =>
      atomically(function* () {
        const { blueprint, config } = yield* known(id)
        if (!store.groups.has(group)) return yield* Result.fail(new GroupNotFound({ group }))
        if (blueprint.sharedGroups.includes(group)) return false
        put({ ...blueprint, sharedGroups: withItem(blueprint.sharedGroups, group) }, config)
        return true
      }),
    unshareWithGroup: (id, group) =>
      Effect.sync(() => {
        const found = store.blueprints.get(id)
        if (found?.blueprint.sharedGroups.includes(group) !== true) return false
        const { blueprint, config } = found
        put({ ...blueprint, sharedGroups: withoutItem(blueprint.sharedGroups, group) }, config)
        return true
      }),
  })
}

/** What a removed user leaves of blueprints, as cascading deletes do: theirs without an owner, and nothing shared with them. */
export const dropUserOfBlueprints = (store: MemoryStore, gone: string): void => {
  for (const [id, { blueprint, config }] of store.blueprints)
    store.blueprints.set(id, {
      blueprint: {
        ...blueprint,
        owner: blueprint.owner === gone ? undefined : blueprint.owner,
        sharedUsers: blueprint.sharedUsers.filter((userId) => userId !== gone),
      },
      config,
    })
}

/** What a removed group leaves of blueprints: nothing shared with it. */
export const dropGroupOfBlueprints = (store: MemoryStore, gone: string): void => {
  for (const [id, { blueprint, config }] of store.blueprints)
    store.blueprints.set(id, {
      blueprint: { ...blueprint, sharedGroups: blueprint.sharedGroups.filter((name) => name !== gone) },
      config,
    })
}
