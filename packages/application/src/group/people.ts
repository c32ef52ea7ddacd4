import { type Group, type GroupRole, LastManager, rootUserId, type User, type UserId } from "@rangewright/domain"
import { Groups, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Outcome } from "../wire/bulk.ts"
import { changeTogether, unlessPending } from "./change-together.ts"

/** The caller, and the user acted as, whose rights count. */
export interface Requester {
  readonly caller: User
  readonly user: User
}

const usersById = Effect.gen(function* () {
  const users = yield* Users
  return new Map<string, User>((yield* users.list).map((user) => [user.id, user]))
})

const rolesIn = (group: Group) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    return new Map<string, GroupRole>((yield* groups.members(group.name)).map(({ userId, role }) => [userId, role]))
  })

const shown = (id: string): string => id.slice(0, 64)

/** Why the user cannot get the role; undefined: nothing forbids it. Naming a member as manager promotes them; nobody is demoted. */
const refusal = (group: Group, item: string, user: User | undefined, held: GroupRole | undefined, role: GroupRole) => {
  if (user === undefined) return `User ${shown(item)} not found`
  if (user.id === rootUserId) return `User ${user.id} cannot be in a group: it has no ranges`
  if (held === "manager") return `User ${user.id} is already a member of group ${group.name}, as a manager`
  return held === role ? `User ${user.id} is already a member of group ${group.name}` : undefined
}

/** Adds users as members, those in `managers` as managers. */
export const addPeople = (group: Group, items: readonly string[], managers: ReadonlySet<string>, { caller }: Requester) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const users = yield* usersById
    const roles = yield* rolesIn(group)
    const wanted = new Map<UserId, GroupRole>()
    const before = new Map<UserId, GroupRole | undefined>()
    const decisions = items.map((item): Outcome => {
      const user = users.get(item)
      const role = managers.has(item) ? "manager" : "member"
      const held = roles.get(item)
      const refused = refusal(group, item, user, held, role)
      if (refused === undefined && user !== undefined) {
        wanted.set(user.id, role)
        before.set(user.id, held)
      }
      return { item, refused }
    })
    /** What each user had whose role this request set. */
    let replaced: typeof before = new Map()
    const store = Effect.map(groups.setRoles(group.name, wanted, { from: before }), (ids) => {
      replaced = new Map(ids.map((id) => [id, before.get(id)]))
    })
    const outcomes = yield* changeTogether(group, decisions, {
      doing: `add ${[...wanted.keys()].join(", ")} to group ${group.name}`,
      by: caller.id,
      users: [...wanted.keys()].flatMap((id) => users.get(id) ?? []),
      store,
      undo: Effect.suspend(() => groups.setRoles(group.name, replaced, { from: wanted })),
    })
    // the other request may still fail, and take back what it gave
    const overtaken = new Set<string>([...wanted.keys()].filter((id) => !replaced.has(id)))
    return outcomes.map((outcome): Outcome =>
      overtaken.has(outcome.item) && outcome.refused === undefined
        ? {
            ...outcome,
            refused: `Another request was changing the role of user ${outcome.item} in group ${group.name}: try again`,
          }
        : outcome,
    )
  })

/**
 * Removes users from the group; a user who is not in it counts as removed. A manager cannot remove the last manager, who may be the
 * requester: nobody in the group could fix that. An administrator can.
 */
export const removePeople = (group: Group, items: readonly string[], { caller, user: requester }: Requester) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const users = yield* usersById
    const roles = yield* rolesIn(group)
    const keepManager = !requester.isAdmin
    let managers = [...roles.values()].filter((role) => role === "manager").length
    const leaving = new Map<UserId, undefined>()
    const gone: User[] = []
    const decisions = items.map((item): Outcome => {
      const user = users.get(item)
      if (user === undefined) return { item, refused: `User ${shown(item)} not found` }
      const role = roles.get(item)
      if (role === undefined) {
        gone.push(user)
        return { item, refused: undefined }
      }
      if (role === "manager" && keepManager && managers === 1) {
        const { message, hint } = new LastManager({ group: group.name })
        return { item, refused: `Cannot remove ${user.id}: ${message}. ${hint ?? ""}` }
      }
      if (role === "manager") managers--
      leaving.set(user.id, undefined)
      return { item, refused: undefined }
    })
    const outcomes = yield* changeTogether(group, decisions, {
      doing: `remove ${[...leaving.keys()].join(", ")} from group ${group.name}`,
      by: caller.id,
      users: [...leaving.keys()].flatMap((id) => users.get(id) ?? []),
      store: groups.setRoles(group.name, leaving, { keepManager }),
      undo: undefined,
    })
    const ids = gone.map(({ id }) => id)
    return yield* unlessPending(
      outcomes,
      { doing: `remove ${ids.join(", ")} from group ${group.name}`, by: caller.id, items: ids },
      gone,
    )
  })
