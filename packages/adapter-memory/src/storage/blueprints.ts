import {
  type Blueprint,
  blueprintBytes,
  type BlueprintId,
  BlueprintNotFound,
  GroupNotFound,
  UserNotFound,
} from "@rangewright/domain"
import { type BlueprintFilter, Blueprints, ConfigChanged } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import type { MemoryStore, StoredBlueprint } from "./memory-store.ts"
import { newlyStored, storedFromSource } from "./stored-blueprint.ts"

const lastChangedFirst = (a: Blueprint, b: Blueprint): number =>
  b.updatedAt.getTime() - a.updatedAt.getTime() || (a.id < b.id ? -1 : 1)

const withItem = <A extends string>(items: readonly A[], item: A): readonly A[] => [...items, item].sort()
const withoutItem = <A extends string>(items: readonly A[], item: A): readonly A[] => items.filter((other) => other !== item)

export const blueprintsLayer = (store: MemoryStore): Layer.Layer<Blueprints> => {
  const { atomically, change } = writesTo(store)
  const known = (id: BlueprintId) => {
    const found = store.blueprints.get(id)
    return found === undefined ? Result.fail(new BlueprintNotFound({ blueprint: id })) : Result.succeed(found)
  }
  const put = (stored: StoredBlueprint): Blueprint => {
    store.blueprints.set(stored.blueprint.id, stored)
    return stored.blueprint
  }
  /** Changes with whom it is shared and nothing else. */
  const share = (stored: StoredBlueprint, change: Partial<Pick<Blueprint, "sharedUsers" | "sharedGroups">>) =>
    put({ ...stored, blueprint: { ...stored.blueprint, ...change } })

  const matching = ({ for: user, ofSource }: BlueprintFilter = {}): Blueprint[] =>
    [...store.blueprints.values()]
      .map(({ blueprint }) => blueprint)
      .filter(
        ({ owner, sharedUsers, sharedGroups, origin }) =>
          (ofSource === undefined || origin?.source === ofSource) &&
          (user === undefined ||
            owner === user ||
            sharedUsers.includes(user) ||
            sharedGroups.some((name) => store.groups.get(name)?.roles.has(user) === true)),
      )

  return Layer.succeed(Blueprints, {
    find: (id) => Effect.sync(() => store.blueprints.get(id)?.blueprint),
    findByRecordId: (id) =>
      Effect.sync(() => [...store.blueprints.values()].find(({ blueprint }) => blueprint.recordId === id)?.blueprint),
    list: (filter) => Effect.sync(() => matching(filter).sort(lastChangedFirst)),
    ids: (filter) =>
      Effect.sync(() =>
        matching(filter)
          .map(({ id }) => id)
          .sort(),
      ),
    sizes: (owner) =>
      Effect.sync(() =>
        [...store.blueprints.values()]
          .filter(({ blueprint }) => blueprint.owner === owner)
          .map(({ blueprint: { id, recordId, bundle }, config, requirements, picture }) => ({
            id,
            recordId,
            bytes: blueprintBytes({ config, requirements, picture }),
            snapshot: bundle?.snapshot,
          }))
          .sort((a, b) => (a.recordId < b.recordId ? -1 : 1)),
      ),
    create: (blueprint) =>
      atomically(function* () {
        return put(yield* newlyStored(store, store.blueprints, blueprint))
      }),
    putFromSource: (blueprints) =>
      atomically(function* () {
        const present = new Map(store.blueprints)
        const ids: BlueprintId[] = []
        for (const shipped of blueprints) {
          const stored = yield* storedFromSource(store, present, shipped)
          present.set(stored.blueprint.id, stored)
          ids.push(stored.blueprint.id)
        }
        for (const stored of present.values()) put(stored)
        return ids.flatMap((id) => present.get(id)?.blueprint ?? [])
      }),
    removeOfSource: (source, ids) =>
      change(() => {
        const gone = [...store.blueprints.values()].flatMap(({ blueprint: { id, recordId, origin } }) =>
          origin?.source === source && (ids === "all" || ids.includes(origin.sourceBlueprintID)) ? [{ id, recordId }] : [],
        )
        for (const { id } of gone) store.blueprints.delete(id)
        return gone.sort((a, b) => (a.id < b.id ? -1 : 1))
      }),
    change: (id, change) =>
      atomically(function* (updatedAt) {
        const stored = yield* known(id)
        const picture = "thumbnail" in change ? change.thumbnail : stored.picture
        const blueprint = { ...stored.blueprint, ...change, thumbnail: picture?.name, updatedAt }
        return put({ ...stored, blueprint, picture })
      }),
    config: (id) => Effect.sync(() => store.blueprints.get(id)?.config),
    setConfig: (id, config, requirements, { by, replaces } = {}) =>
      atomically(function* (updatedAt) {
        const stored = yield* known(id)
        if (replaces?.(stored.config) === false) {
          const { by: other, at } = stored.configChange ?? { by: undefined, at: stored.blueprint.updatedAt }
          return yield* Result.fail(new ConfigChanged({ what: `blueprint ${id}`, by: other, at }))
        }
        const kept = requirements ?? stored.requirements
        const configChange = { by, at: updatedAt }
        put({ ...stored, blueprint: { ...stored.blueprint, updatedAt }, config, requirements: kept, configChange })
      }),
    requirements: (id) => Effect.sync(() => store.blueprints.get(id)?.requirements),
    setInstallation: (id, installation) =>
      change(() => {
        const found = store.blueprints.get(id)
        if (found !== undefined) put({ ...found, blueprint: { ...found.blueprint, installation } })
      }),
    thumbnail: (recordId, name) =>
      Effect.sync(() => {
        const found = [...store.blueprints.values()].find(({ blueprint }) => blueprint.recordId === recordId)
        return found?.picture?.name === name ? found.picture : undefined
      }),
    remove: (id) => change(() => void store.blueprints.delete(id)),
    shareWithUser: (id, userId) =>
      atomically(function* () {
        const stored = yield* known(id)
        if (!store.users.has(userId)) return yield* Result.fail(new UserNotFound({ userId }))
        if (stored.blueprint.sharedUsers.includes(userId)) return false
        share(stored, { sharedUsers: withItem(stored.blueprint.sharedUsers, userId) })
        return true
      }),
    unshareWithUser: (id, userId) =>
      change(() => {
        const found = store.blueprints.get(id)
        if (found?.blueprint.sharedUsers.includes(userId) !== true) return false
        share(found, { sharedUsers: withoutItem(found.blueprint.sharedUsers, userId) })
        return true
      }),
    shareWithGroup: (id, group) =>
      atomically(function* () {
        const stored = yield* known(id)
        if (!store.groups.has(group)) return yield* Result.fail(new GroupNotFound({ group }))
        if (stored.blueprint.sharedGroups.includes(group)) return false
        share(stored, { sharedGroups: withItem(stored.blueprint.sharedGroups, group) })
        return true
      }),
    unshareWithGroup: (id, group) =>
      change(() => {
        const found = store.blueprints.get(id)
        if (found?.blueprint.sharedGroups.includes(group) !== true) return false
        share(found, { sharedGroups: withoutItem(found.blueprint.sharedGroups, group) })
        return true
      }),
  })
}

/** Effects of removing a user on blueprints, as cascading deletes would have: their own lose the owner, and nothing is shared with them. */
export const dropUserOfBlueprints = (store: MemoryStore, gone: string): void => {
  for (const [id, stored] of store.blueprints) {
    const { owner, sharedUsers } = stored.blueprint
    const left = { owner: owner === gone ? undefined : owner, sharedUsers: sharedUsers.filter((userId) => userId !== gone) }
    store.blueprints.set(id, { ...stored, blueprint: { ...stored.blueprint, ...left } })
  }
}

/** Effects of removing a group on blueprints: nothing is shared with it. */
export const dropGroupOfBlueprints = (store: MemoryStore, gone: string): void => {
  for (const [id, stored] of store.blueprints) {
    const sharedGroups = stored.blueprint.sharedGroups.filter((name) => name !== gone)
    store.blueprints.set(id, { ...stored, blueprint: { ...stored.blueprint, sharedGroups } })
  }
}
