import {
  allocateRangeNumber,
  newlyMadeRange,
  RangeExists,
  rangeIdKey,
  takenRangeId,
  type UserId,
  UserNotFound,
} from "@rangewright/domain"
import type { NewRange } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Transaction } from "../engine/transaction.ts"
import { toStorable } from "../engine/storable-text.ts"
import { refuseRangeOverQuota } from "./quota-facts.ts"
import { fromRange, rangeConfigs, rangeGrants } from "../records/range.ts"

const refuseUnknownUsers = (tx: Transaction, named: readonly UserId[]) =>
  Effect.gen(function* () {
    if (named.length === 0) return
    const rows = yield* tx((db) => db.selectFrom("users").select("id").where("id", "in", named).execute())
    const known = new Set<string>(rows.map((row) => row.id))
    const stranger = named.find((id) => !known.has(id))
    if (stranger !== undefined) return yield* new UserNotFound({ userId: stranger })
  })

/** Creates a range with its number, state, configuration and grants. */
export const createRange = (
  tx: Transaction,
  { config, owners, number: requested, reservedNumbers, systemLimits, ...draft }: NewRange,
) =>
  Effect.gen(function* () {
    const taken = yield* tx((db) => db.selectFrom("ranges").select(["id", "number"]).execute())
    const idKey = rangeIdKey(draft.id)
    if (taken.some((row) => rangeIdKey(row.id) === idKey)) return yield* new RangeExists({ what: takenRangeId(draft.id) })
    const asked = { id: draft.id, number: requested, reservedNumbers }
    const number = yield* Effect.fromResult(allocateRangeNumber(asked, new Set(taken.map((row) => row.number))))
    yield* refuseUnknownUsers(tx, draft.createdBy === undefined ? owners : [...owners, draft.createdBy])
    const range = newlyMadeRange(draft, number, owners)
    const content = Buffer.from(toStorable(config))
    yield* refuseRangeOverQuota(tx, range, systemLimits)
    const stored = rangeConfigs.write({
      rangeId: range.id,
      content,
      // what an older service deployed
      deployed: range.takenOver ? content : undefined,
      updatedAt: range.createdAt,
    })
    const grants = [...new Set(owners)].map((userId) => rangeGrants.write({ rangeId: range.id, userId }))
    yield* tx((db) =>
      db
        .insertInto("ranges")
        .values(fromRange({ ...range, idKey }))
        .execute(),
    )
    yield* tx((db) => db.insertInto("range_configs").values(stored).execute())
    if (grants.length > 0) yield* tx((db) => db.insertInto("range_grants").values(grants).execute())
    return range
  })
