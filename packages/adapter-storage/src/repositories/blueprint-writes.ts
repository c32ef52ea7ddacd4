import { BlueprintExists, type BlueprintId, BlueprintNotFound, type Picture } from "@rangewright/domain"
import type { BlueprintFromSource, NewBlueprint } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Updateable } from "kysely"
import type { Transaction } from "../engine/transaction.ts"
import { blueprints, blueprintThumbnails } from "../records/blueprint.ts"
import type { Tables } from "../schema/tables.ts"
import { requireUser } from "./require.ts"

type Columns = Updateable<Tables["blueprints"]>

/** The columns of a new blueprint except its ids, owner and times. */
const contentColumns = ({ name, description, version, tags, minVersion, bundle, requirements, config }: NewBlueprint) =>
  blueprints.write({
    name,
    description,
    version,
    tags,
    minVersion,
    requirements,
    config,
    bundleSnapshot: bundle?.snapshot,
    bundleDirectory: bundle?.directory,
  })

/** Replaces the picture; undefined removes it. */
export const setPicture = (tx: Transaction, blueprintId: BlueprintId, picture: Picture | undefined) =>
  Effect.gen(function* () {
    yield* tx((db) => db.deleteFrom("blueprint_thumbnails").where("blueprint_id", "=", blueprintId).execute())
    if (picture === undefined) return
    const { bytes, ...said } = picture
    const row = blueprintThumbnails.write({ blueprintId, ...said, content: Buffer.from(bytes) })
    yield* tx((db) => db.insertInto("blueprint_thumbnails").values(row).execute())
  })

/** Changes these columns and the time of the last change. */
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
    const { id, recordId, owner, createdAt } = blueprint
    const row = {
      ...contentColumns(blueprint),
      ...blueprints.write({ id, recordId, owner, createdAt, updatedAt: createdAt }),
      ...blueprints.write({ source: origin?.source, sourceBlueprintId: origin?.sourceBlueprintID }),
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
  })

/** Upserts by origin; returns the id. */
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
    const { id } = present
    const columns = {
      ...contentColumns(blueprint),
      ...blueprints.write({ updatedAt: blueprint.createdAt, configBy: undefined, configAt: undefined }),
    }
    yield* tx((db) => db.updateTable("blueprints").set(columns).where("id", "=", id).execute())
    yield* setPicture(tx, id, blueprint.thumbnail)
    return id
  })
