import { type Blueprint, type Fault, isGroupName, isUserId, type User, type UserId } from "@rangewright/domain"
import { Blueprints, Groups, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Outcome, reasonOf } from "../wire/bulk.ts"

export type ShareChange = "share" | "unshare"

const shown = (item: string): string => item.slice(0, 64)

/** Why the item is refused, or undefined when `change` changed something. */
const changed = <R>(change: Effect.Effect<boolean, Fault, R>, otherwise: string) =>
  Effect.map(Effect.result(change), (result) => {
    if (Result.isFailure(result)) return reasonOf(result.failure)
    return result.success ? undefined : otherwise
  })

const groupsManagedBy = (user: User) =>
  Effect.map(
    Effect.flatMap(Groups, (groups) => groups.memberships(user.id)),
    (memberships) => memberships.flatMap(({ group, role }) => (role === "manager" ? [group.name] : [])),
  )

/** Everybody in a group that the user manages. */
const peopleManagedBy = (user: User) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const members = yield* Effect.forEach(yield* groupsManagedBy(user), groups.members)
    return new Set<UserId>(members.flat().map(({ userId }) => userId))
  })

/**
 * Shares the blueprint with users, or unshares it. An administrator may name anybody, others only members of groups that they manage:
 * owning the blueprint does not suffice.
 */
export const changeUsersOfBlueprint = (change: ShareChange, blueprint: Blueprint, items: readonly string[], asker: User) =>
  Effect.gen(function* () {
    const users = yield* Users
    const { shareWithUser, unshareWithUser } = yield* Blueprints
    const people = asker.isAdmin ? undefined : yield* peopleManagedBy(asker)
    const refusal = (item: string) =>
      Effect.gen(function* () {
        const user = isUserId(item) ? yield* users.find(item) : undefined
        if (user === undefined) return `User ${shown(item)} not found`
        if (people !== undefined && !people.has(user.id))
          return `${asker.id} is not a manager of a group that contains user ${user.id}`
        return yield* change === "share"
          ? changed(shareWithUser(blueprint.id, user.id), `Blueprint ${blueprint.id} is already shared with user ${user.id}`)
          : changed(unshareWithUser(blueprint.id, user.id), `Blueprint ${blueprint.id} is not shared with user ${user.id}`)
      })
    return yield* Effect.forEach(items, (item) => Effect.map(refusal(item), (refused): Outcome => ({ item, refused })))
  })

/** The same with groups: an administrator may name any, others those that they manage. */
export const changeGroupsOfBlueprint = (change: ShareChange, blueprint: Blueprint, items: readonly string[], asker: User) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const { shareWithGroup, unshareWithGroup } = yield* Blueprints
    const managed = asker.isAdmin ? undefined : new Set(yield* groupsManagedBy(asker))
    const refusal = (item: string) =>
      Effect.gen(function* () {
        const group = isGroupName(item) ? yield* groups.find(item) : undefined
        if (group === undefined) return `Group ${shown(item)} not found`
        if (managed !== undefined && !managed.has(group.name)) return `${asker.id} is not a manager of group ${group.name}`
        return yield* change === "share"
          ? changed(
              shareWithGroup(blueprint.id, group.name),
              `Blueprint ${blueprint.id} is already shared with group ${group.name}`,
            )
          : changed(
              unshareWithGroup(blueprint.id, group.name),
              `Blueprint ${blueprint.id} is not shared with group ${group.name}`,
            )
      })
    return yield* Effect.forEach(items, (item) => Effect.map(refusal(item), (refused): Outcome => ({ item, refused })))
  })
