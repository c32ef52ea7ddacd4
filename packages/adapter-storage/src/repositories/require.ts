import {
  type BlueprintId,
  BlueprintNotFound,
  type GroupName,
  GroupNotFound,
  type RangeId,
  RangeNotFound,
  type UserId,
  UserNotFound,
} from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { Transaction } from "../engine/transaction.ts"

// A row that a write refers to may have been deleted since it was read. In a serialized write an existing row cannot disappear; in other
// transactions a violated foreign key repeats the transaction, which then finds the row missing here.

/** Fails when there is no such user. */
export const requireUser = (tx: Transaction, userId: UserId) =>
  Effect.gen(function* () {
    const found = yield* tx((db) => db.selectFrom("users").select("id").where("id", "=", userId).executeTakeFirst())
    if (found === undefined) return yield* new UserNotFound({ userId })
  })

/** Fails when there is no such range. */
export const requireRange = (tx: Transaction, rangeId: RangeId) =>
  Effect.gen(function* () {
    const found = yield* tx((db) => db.selectFrom("ranges").select("id").where("id", "=", rangeId).executeTakeFirst())
    if (found === undefined) return yield* new RangeNotFound({ rangeId })
  })

/** Fails when there is no such group of users. */
export const requireGroup = (tx: Transaction, group: GroupName) =>
  Effect.gen(function* () {
    const found = yield* tx((db) => db.selectFrom("user_groups").select("name").where("name", "=", group).executeTakeFirst())
    if (found === undefined) return yield* new GroupNotFound({ group })
  })

/** Fails when there is no such blueprint. */
export const requireBlueprint = (tx: Transaction, blueprint: BlueprintId) =>
  Effect.gen(function* () {
    const found = yield* tx((db) => db.selectFrom("blueprints").select("id").where("id", "=", blueprint).executeTakeFirst())
    if (found === undefined) return yield* new BlueprintNotFound({ blueprint })
  })
