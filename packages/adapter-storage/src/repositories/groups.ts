import { GroupExists, type GroupName, type GroupRole, LastManager, type UserId, UserNotFound } from "@rangewright/domain"
import { Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"
import { groupNotices, groups } from "../records/group.ts"
import { groupReads } from "./group-reads.ts"
import { requireGroup, requireRange } from "./require.ts"

/** A store holds at most 150 users: reading all their ids is cheaper than a list of parameters. */
const requireUsersExist = (tx: Transaction, roles: ReadonlyMap<UserId, GroupRole | undefined>) =>
  Effect.gen(function* () {
    const rows = yield* tx((db) => db.selectFrom("users").select("id").execute())
    const known = new Set<string>(rows.map((row) => row.id))
    for (const [userId, role] of roles) if (role !== undefined && !known.has(userId)) return yield* new UserNotFound({ userId })
  })

const managersOf = (tx: Transaction, name: GroupName) =>
  tx((db) =>
    db
      .selectFrom("group_members")
      .select("user_id")
      .where("group_name", "=", name)
      .where("role", "=", "manager" satisfies GroupRole)
      .execute(),
  )

/** The entries of `roles` whose users still have the role that `from` gives. */
const unchangedSince = (
  tx: Transaction,
  name: GroupName,
  roles: ReadonlyMap<UserId, GroupRole | undefined>,
  from: ReadonlyMap<UserId, GroupRole | undefined>,
) =>
  Effect.map(
    tx((db) => db.selectFrom("group_members").select(["user_id", "role"]).where("group_name", "=", name).execute()),
    (rows) => {
      const now = new Map<string, string>(rows.map(({ user_id, role }) => [user_id, role]))
      return new Map([...roles].filter(([userId]) => now.get(userId) === from.get(userId)))
    },
  )

const setRole = (tx: Transaction, group_name: GroupName, user_id: UserId, role: GroupRole | undefined) =>
  role === undefined
    ? Effect.asVoid(
        tx((db) => db.deleteFrom("group_members").where("group_name", "=", group_name).where("user_id", "=", user_id).execute()),
      )
    : Effect.asVoid(
        tx((db) =>
          db
            .insertInto("group_members")
            .values({ group_name, user_id, role })
            .onConflict((conflict) => conflict.columns(["group_name", "user_id"]).doUpdateSet({ role }))
            .execute(),
        ),
      )

export const groupsLayer: Layer.Layer<Groups, never, Database> = Layer.effect(
  Groups,
  Effect.gen(function* () {
    const database = yield* Database
    return {
      ...groupReads(database),
      create: (group) =>
        database.serializedWrite(`create group ${group.name}`, (tx) =>
          Effect.gen(function* () {
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("user_groups")
                .values(groups.write(group))
                .onConflict((conflict) => conflict.column("name").doNothing())
                .executeTakeFirst(),
            )
            if ((numInsertedOrUpdatedRows ?? 0n) === 0n) return yield* new GroupExists({ group: group.name })
            return group
          }),
        ),
      remove: (name) =>
        database.serializedWrite(`remove group ${name}`, (tx) =>
          Effect.asVoid(tx((db) => db.deleteFrom("user_groups").where("name", "=", name).execute())),
        ),
      setRoles: (name, wanted, { keepManager = false, from } = {}) =>
        database.serializedWrite(`change who is in group ${name}`, (tx) =>
          Effect.gen(function* () {
            yield* requireGroup(tx, name)
            const roles = from === undefined ? wanted : yield* unchangedSince(tx, name, wanted, from)
            yield* requireUsersExist(tx, roles)
            const before = keepManager ? yield* managersOf(tx, name) : []
            yield* Effect.forEach(roles, ([userId, role]) => setRole(tx, name, userId, role), { discard: true })
            if (before.length > 0 && (yield* managersOf(tx, name)).length === 0) return yield* new LastManager({ group: name })
            return [...roles.keys()]
          }),
        ),
      setNotice: (notice) =>
        database.serializedWrite(`put up a notice for group ${notice.group}`, (tx) =>
          Effect.gen(function* () {
            yield* requireGroup(tx, notice.group)
            yield* tx((db) => db.deleteFrom("group_notices").where("group_name", "=", notice.group).execute())
            yield* tx((db) => db.insertInto("group_notices").values(groupNotices.write(notice)).execute())
          }),
        ),
      removeNotice: (name) =>
        database.serializedWrite(`take down the notice of group ${name}`, (tx) =>
          Effect.asVoid(tx((db) => db.deleteFrom("group_notices").where("group_name", "=", name).execute())),
        ),
      addRange: (group_name, range_id) =>
        database.serializedWrite(`give range ${range_id} to group ${group_name}`, (tx) =>
          Effect.gen(function* () {
            yield* requireGroup(tx, group_name)
            yield* requireRange(tx, range_id)
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("group_ranges")
                .values({ group_name, range_id })
                .onConflict((conflict) => conflict.doNothing())
                .executeTakeFirst(),
            )
            return (numInsertedOrUpdatedRows ?? 0n) > 0n
          }),
        ),
      removeRange: (name, rangeId) =>
        database.serializedWrite(`remove range ${rangeId} from group ${name}`, (tx) =>
          Effect.map(
            tx((db) =>
              db.deleteFrom("group_ranges").where("group_name", "=", name).where("range_id", "=", rangeId).executeTakeFirst(),
            ),
            ({ numDeletedRows }) => numDeletedRows > 0n,
          ),
        ),
    }
  }),
)
