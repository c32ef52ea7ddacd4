import {
  BlueprintExists,
  type BlueprintId,
  BlueprintNotFound,
  type Picture,
  type UserId,
  UserNotFound,
} from "@rangewright/domain"
import type { BlueprintChange, BlueprintFromSource, NewBlueprint } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Insertable } from "kysely"
import type { Transaction } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { toBlueprint } from "../schema/rows.ts"

type Columns = Partial<Insertable<Tables["blueprints"]>>

/** Fails where there is no such user. */
export const requireUser = (tx: Transaction, userId: UserId) =>
  Effect.gen(function* () {
    const found = yield* tx((db) => db.selectFrom("users").select("id").where("id", "=", userId).executeTakeFirst())
    if (found === undefined) return yield* new UserNotFound({ userId })
  })

/** What is named of a change. */
export const changedColumns = (change: BlueprintChange): Columns => ({
  ...(change.name === undefined ? {} : { name: change.name }),
  ...(change.description === undefined ? {} : { description: change.description }),
  ...(change.version === undefined ? {} : { version: change.version }),
  ...(change.tags === undefined ? {} : { tags: JSON.stringify(change.tags) }),
  ...(change.minVersion === undefined ? {} : { min_version: change.minVersion }),
})

/** Everything that a new blueprint brings but who and when it is. */
const contentColumns = (blueprint: NewBlueprint) => ({
  name: blueprint.name,
  description: blueprint.description,
  version: blueprint.version,
  tags: JSON.stringify(blueprint.tags),
  min_version: blueprint.minVersion,
  bundle_snapshot: blueprint.bundle?.snapshot ?? null,
  bundle_directory: blueprint.bundle?.directory ?? null,
  requirements: blueprint.requirements ?? null,
  config: blueprint.config,
})

/** Puts the picture in the place of the one before; undefined: removes that one. */
export const setPicture = (tx: Transaction, blueprint_id: BlueprintId, picture: Picture | undefined) =>
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

/** Changes these columns; the blueprint changed now. */
export const update = (tx: Transaction, id: BlueprintId, columns: Columns) =>
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

/** A new row, with its picture. */
export const insert = (tx: Transaction, blueprint: NewBlueprint, origin?: BlueprintFromSource["origin"]) =>
  Effect.gen(function* () {
    yield* requireUser(tx, blueprint.owner)
    const at = blueprint.createdAt.getTime()
    const row = {
      id: blueprint.id,
      record_id: blueprint.recordId,
      owner: blueprint.owner,
      source: origin?.source ?? null,
      source_blueprint_id: origin?.sourceBlueprintID ?? null,
      created_at: at,
      updated_at: at,
      ...contentColumns(blueprint),
    }
    const { numInsertedOrUpdatedRows } = yield* tx((db) =>
      db
        .insertInto("blueprints")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doNothing())
        .executeTakeFirst(),
    )
    if ((numInsertedOrUpdatedRows ?? 0n) === 0n) return yield* new BlueprintExists({ blueprint: blueprint.id })
    yield* setPicture(tx, blueprint.id, blueprint.thumbnail)
    return toBlueprint(
      { ...row, install_status: null, install_error: null, installed_at: null, thumbnail: blueprint.thumbnail?.name ?? null },
      [],
      [],
    )
  })

/** Makes it, or renews the one of its origin; gives the id of that. */
export const putOne = (tx: Transaction, blueprint: BlueprintFromSource) =>
  Effect.gen(function* () {
    const { source, sourceBlueprintID } = blueprint.origin
    const present = yield* tx((db) =>
      db
        .selectFrom("blueprints")
        .select("id")
        .where("source", "=", source)
        .where("source_blueprint_id", "=", sourceBlueprintID)
        .executeTakeFirst(),
    )
    if (present === undefined) {
      yield* insert(tx, blueprint, blueprint.origin)
      return blueprint.id
    }
    const id = present.id as BlueprintId
    const columns = { ...contentColumns(blueprint), updated_at: blueprint.createdAt.getTime() }
    yield* tx((db) => db.updateTable("blueprints").set(columns).where("id", "=", id).execute())
    yield* setPicture(tx, id, blueprint.thumbnail)
    return id
  })
