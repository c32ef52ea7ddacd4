import { allocateRangeNumber, RangeExists, rangeIdKey, takenRangeId, UserNotFound } from "@rangewright/domain"
import type { NewRange } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Transaction } from "../engine/database.ts"
import { toStorable } from "../engine/storable-text.ts"
import { toRange } from "../schema/rows.ts"

const refuseUnknownUsers = (tx: Transaction, range: NewRange) =>
  Effect.gen(function* () {
    const named = range.createdBy === undefined ? range.owners : [...range.owners, range.createdBy]
    if (named.length === 0) return
    const rows = yield* tx((db) => db.selectFrom("users").select("id").where("id", "in", named).execute())
    const known = new Set<string>(rows.map((row) => row.id))
    const stranger = named.find((id) => !known.has(id))
    if (stranger !== undefined) return yield* new UserNotFound({ userId: stranger })
  })

/** Makes a range whole: number, state, configuration, grants. */
export const createRange = (tx: Transaction, range: NewRange) =>
  Effect.gen(function* () {
    const taken = yield* tx((db) => db.selectFrom("ranges").select(["id", "number"]).execute())
    const idKey = rangeIdKey(range.id)
    if (taken.some((row) => rangeIdKey(row.id) === idKey)) return yield* new RangeExists({ what: takenRangeId(range.id) })
    const number = yield* Effect.fromResult(allocateRangeNumber(range, new Set(taken.map((row) => row.number))))
    yield* refuseUnknownUsers(tx, range)
    const at = range.createdAt.getTime()
    const row = {
      id: range.id,
      record_id: range.recordId,
      number,
      name: range.name,
      description: range.description,
      purpose: range.purpose,
      state: range.past?.state ?? "NEVER DEPLOYED",
      testing_enabled: range.past?.testing.enabled ?? false,
      allowed_domains: JSON.stringify(range.past?.testing.allowedDomains ?? []),
      allowed_ips: JSON.stringify(range.past?.testing.allowedIps ?? []),
      last_deployment_at: range.past?.lastDeploymentAt?.getTime() ?? null,
      last_active_at: null,
      auto_shutdown: null,
      created_by: range.createdBy ?? null,
      created_at: at,
      updated_at: at,
      version: 1,
      id_key: idKey,
      ...(range.past === undefined ? {} : { taken_over: true }),
    }
    const content = Buffer.from(toStorable(range.config))
    // what an older service has deployed
    const deployed = range.past === undefined ? null : content
    const owners = [...new Set(range.owners)].map((user_id) => ({ range_id: range.id, user_id }))
    yield* tx((db) => db.insertInto("ranges").values(row).execute())
    yield* tx((db) => db.insertInto("range_configs").values({ range_id: range.id, content, deployed, updated_at: at }).execute())
    if (owners.length > 0) yield* tx((db) => db.insertInto("range_grants").values(owners).execute())
    return toRange({ taken_over: false, ...row })
  })
