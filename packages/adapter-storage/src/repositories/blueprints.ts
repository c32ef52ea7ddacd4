import { BlueprintNotFound, newlyMadeBlueprint } from "@rangewright/domain"
import { Blueprints, type RemovedBlueprint } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { blueprints } from "../records/blueprint.ts"
import { blueprintReads } from "./blueprint-reads.ts"
import { insert, putOne, setPicture, update } from "./blueprint-writes.ts"
import { requireBlueprintConfig } from "./require-config.ts"
import { requireBlueprint, requireGroup, requireUser } from "./require.ts"

export const blueprintsLayer: Layer.Layer<Blueprints, never, Database> = Layer.effect(
  Blueprints,
  Effect.gen(function* () {
    const database = yield* Database
    const reads = blueprintReads(database)
    return {
      ...reads,
      create: ({ config, requirements, thumbnail, ...draft }) =>
        database.serializedWrite(`create blueprint ${draft.id}`, (tx) =>
          Effect.as(
            insert(tx, { ...draft, config, requirements, thumbnail }),
            newlyMadeBlueprint(draft, thumbnail?.name, undefined),
          ),
        ),
      putFromSource: (shipped) =>
        Effect.gen(function* () {
          const ids = yield* database.serializedWrite("install the blueprints of a source", (tx) =>
            Effect.forEach(shipped, (blueprint) => putOne(tx, blueprint)),
          )
          const put = yield* Effect.forEach(ids, reads.find)
          return put.filter((blueprint) => blueprint !== undefined)
        }),
      removeOfSource: (source, ids) =>
        database.serializedWrite("remove blueprints of a source", (tx) =>
          Effect.gen(function* () {
            if (ids !== "all" && ids.length === 0) return []
            const gone = yield* tx((db) => {
              const all = db.deleteFrom("blueprints").where("source", "=", source)
              return (ids === "all" ? all : all.where("source_blueprint_id", "in", ids)).returning(["id", "record_id"]).execute()
            })
            return gone
              .map(({ id, record_id }): RemovedBlueprint => ({ id, recordId: record_id }))
              .sort((a, b) => (a.id < b.id ? -1 : 1))
          }),
        ),
      change: (id, change) =>
        Effect.gen(function* () {
          yield* database.write(`change blueprint ${id}`, (tx) =>
            Effect.gen(function* () {
              yield* update(tx, id, blueprints.write(change))
              if ("thumbnail" in change) yield* setPicture(tx, id, change.thumbnail)
            }),
          )
          return (yield* reads.find(id)) ?? (yield* new BlueprintNotFound({ blueprint: id }))
        }),
      setConfig: (id, config, requirements, { by, replaces } = {}) =>
        database.serializedWrite(`change the configuration of blueprint ${id}`, (tx) =>
          Effect.gen(function* () {
            const configAt = new Date(yield* Clock.currentTimeMillis)
            if (replaces !== undefined) yield* requireBlueprintConfig(tx, id, replaces)
            yield* update(
              tx,
              id,
              blueprints.write({ config, configBy: by, configAt, ...(requirements !== undefined && { requirements }) }),
            )
          }),
        ),
      setInstallation: (id, { status, error, at }) =>
        database.write(`store what was installed for blueprint ${id}`, (tx) =>
          Effect.asVoid(
            tx((db) =>
              db
                .updateTable("blueprints")
                .set(blueprints.write({ installStatus: status, installError: error, installedAt: at }))
                .where("id", "=", id)
                .execute(),
            ),
          ),
        ),
      remove: (id) =>
        database.serializedWrite(`remove blueprint ${id}`, (tx) =>
          Effect.asVoid(tx((db) => db.deleteFrom("blueprints").where("id", "=", id).execute())),
        ),
      shareWithUser: (blueprint_id, user_id) =>
        database.serializedWrite(`share blueprint ${blueprint_id} with ${user_id}`, (tx) =>
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
        database.serializedWrite(`stop sharing blueprint ${id} with ${userId}`, (tx) =>
          Effect.map(
            tx((db) =>
              db.deleteFrom("blueprint_users").where("blueprint_id", "=", id).where("user_id", "=", userId).executeTakeFirst(),
            ),
            ({ numDeletedRows }) => numDeletedRows > 0n,
          ),
        ),
      shareWithGroup: (blueprint_id, group_name) =>
        database.serializedWrite(`share blueprint ${blueprint_id} with group ${group_name}`, (tx) =>
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
        database.serializedWrite(`stop sharing blueprint ${id} with group ${group}`, (tx) =>
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
