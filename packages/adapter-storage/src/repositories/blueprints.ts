import {
  BlueprintExists,
  type BlueprintId,
  BlueprintNotFound,
  type GroupName,
  GroupNotFound,
  type Picture,
  type UserId,
  UserNotFound,
} from "@rangewright/domain"
import { type BlueprintChange, Blueprints } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Insertable } from "kysely"
import { Database, type Transaction } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { toBlueprint } from "../schema/rows.ts"
import { blueprintReads } from "./blueprint-reads.ts"

const requireBlueprint = (tx: Transaction, id: BlueprintId) =>
  Effect.gen(function* () {
    const found = yield* tx((db) => db.selectFrom("blueprints").select("id").where("id", "=", id).executeTakeFirst())
    if (found === undefined) return yield* new BlueprintNotFound({ blueprint: id })
  })

const requireUser = (tx: Transaction, userId: UserId) =>
  Effect.gen(function* () {
    const found = yield* tx((db) => db.selectFrom("users").select("id").where("id", "=", userId).executeTakeFirst())
    if (found === undefined) return yield* new UserNotFound({ userId })
  })

const requireGroup = (tx: Transaction, group: GroupName) =>
  Effect.gen(function* () {
    const found = yield* tx((db) => db.selectFrom("user_groups").select("name").where("name", "=", group).executeTakeFirst())
    if (found === undefined) return yield* new GroupNotFound({ group })
  })

type Columns = Partial<Insertable<Tables["blueprints"]>>

const changedColumns = (change: BlueprintChange): Columns => ({
  ...(change.name === undefined ? {} : { name: change.name }),
  ...(change.description === undefined ? {} : { description: change.description }),
  ...(change.version === undefined ? {} : { version: change.version }),
  ...(change.tags === undefined ? {} : { tags: JSON.stringify(change.tags) }),
  ...(change.minVersion === undefined ? {} : { min_version: change.minVersion }),
})

/** Puts the picture in the place of the one before; undefined: removes that one. */
const setPicture = (tx: Transaction, blueprint_id: BlueprintId, picture: Picture | undefined) =>
  Effect.gen(function* () {
    yield* tx((db) => db.deleteFrom("blueprint_thumbnails").where("blueprint_id", "=", blueprint_id).execute())
    if (picture === undefined) return
    const { name, type, bytes } = picture
    yield* tx((db) =>
      db
        .insertInto("blueprint_thumbnails")
        .values({ blueprint_id, name, type, content: Buffer.from(bytes) })
        .execute(),
    )
  })

const update = (tx: Transaction, id: BlueprintId, columns: Columns) =>
  Effect.gen(function* () {
    const updated_at = yield* Clock.currentTimeMillis
    const { numUpdatedRows } = yield* tx((db) =>
      db
        .updateTable("blueprints")
        .set({ ...columns, updated_at })
        .where("id", "=", id)
        .executeTakeFirst(),
    )
    if (numUpdatedRows === 0n) return yield* new BlueprintNotFound({ blueprint: id })
  })

export const blueprintsLayer: Layer.Layer<Blueprints, never, Database> = Layer.effect(
  Blueprints,
  Effect.gen(function* () {
    const database = yield* Database
    const reads = blueprintReads(database)
    return {
      ...reads,
      create: ({ config, thumbnail, ...blueprint }) =>
        database.writeAlone(`create blueprint ${blueprint.id}`, (tx) =>
          Effect.gen(function* () {
            yield* requireUser(tx, blueprint.owner)
            const at = blueprint.createdAt.getTime()
            const row = {
              id: blueprint.id,
              record_id: blueprint.recordId,
              owner: blueprint.owner,
              name: blueprint.name,
              description: blueprint.description,
              version: blueprint.version,
              tags: JSON.stringify(blueprint.tags),
              min_version: blueprint.minVersion,
              created_at: at,
              updated_at: at,
            }
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("blueprints")
                .values({ ...row, config })
                .onConflict((conflict) => conflict.column("id").doNothing())
                .executeTakeFirst(),
            )
            if ((numInsertedOrUpdatedRows ?? 0n) === 0n) return yield* new BlueprintExists({ blueprint: blueprint.id })
            yield* setPicture(tx, blueprint.id, thumbnail)
            return toBlueprint({ ...row, thumbnail: thumbnail?.name ?? null }, [], [])
          }),
        ),
      change: (id, change) =>
        Effect.gen(function* () {
          yield* database.write(`change blueprint ${id}`, (tx) =>
            Effect.gen(function* () {
              yield* update(tx, id, changedColumns(change))
              if ("thumbnail" in change) yield* setPicture(tx, id, change.thumbnail)
            }),
          )
          return (yield* reads.find(id)) ?? (yield* new BlueprintNotFound({ blueprint: id }))
        }),
      setConfig: (id, text) =>
        database.write(`change the configuration of blueprint ${id}`, (tx) => update(tx, id, { config: text })),
      remove: (id) =>
        database.writeAlone(`remove blueprint ${id}`, (tx) =>
          Effect.asVoid(tx((db) => db.deleteFrom("blueprints").where("id", "=", id).execute())),
        ),
      shareWithUser: (blueprint_id, user_id) =>
        database.writeAlone(`share blueprint ${blueprint_id} with ${user_id}`, (tx) =>
          Effect.gen(function* () {
            yield* requireBlueprint(tx, blueprint_id)
            yield* requireUser(tx, user_id)
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("blueprint_users")
                .values({ blueprint_id, user_id })
                .onConflict((conflict) => conflict.doNothing())
                .executeTakeFirst(),
            )
            return (numInsertedOrUpdatedRows ?? 0n) > 0n
          }),
        ),
      unshareWithUser: (id, userId) =>
        database.writeAlone(`take blueprint ${id} from ${userId}`, (tx) =>
          Effect.map(
            tx((db) =>
              db.deleteFrom("blueprint_users").where("blueprint_id", "=", id).where("user_id", "=", userId).executeTakeFirst(),
            ),
            ({ numDeletedRows }) => numDeletedRows > 0n,
          ),
        ),
      shareWithGroup: (blueprint_id, group_name) =>
        database.writeAlone(`share blueprint ${blueprint_id} with group ${group_name}`, (tx) =>
          Effect.gen(function* () {
            yield* requireBlueprint(tx, blueprint_id)
            yield* requireGroup(tx, group_name)
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("blueprint_groups")
                .values({ blueprint_id, group_name })
                .onConflict((conflict) => conflict.doNothing())
                .executeTakeFirst(),
            )
            return (numInsertedOrUpdatedRows ?? 0n) > 0n
          }),
        ),
      unshareWithGroup: (id, group) =>
        database.writeAlone(`take blueprint ${id} from group ${group}`, (tx) =>
          Effect.map(
            tx((db) =>
              db.deleteFrom("blueprint_groups").where("blueprint_id", "=", id).where("group_name", "=", group).executeTakeFirst(),
            ),
            ({ numDeletedRows }) => numDeletedRows > 0n,
          ),
        ),
    }
  }),
)
