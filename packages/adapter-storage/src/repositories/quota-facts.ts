import {
  type Amounts,
  configSizes,
  isAnyLimited,
  noAmounts,
  payerOf,
  type QuotaFacts,
  type Range,
  type RangeId,
  refusedDeploy,
  refusedRange,
  type SetLimits,
} from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { Kysely } from "kysely"
import { QueryFailed, type Transaction } from "../engine/transaction.ts"
import { fromStorable } from "../engine/storable-text.ts"
import { toRangeMachine } from "../records/machine.ts"
import { amountsOf, toGroupQuota, toUserQuota } from "../records/quota.ts"
import { groupName, rangeId, userId } from "../schema/ids.ts"
import type { Tables } from "../schema/tables.ts"

const utf8 = (stored: Uint8Array): string => fromStorable(Buffer.from(stored).toString("utf8"))

export const readLimits = async (db: Kysely<Tables>): Promise<SetLimits> => {
  const users = (await db.selectFrom("user_quotas").selectAll().execute()).map(toUserQuota)
  const groups = (await db.selectFrom("group_quotas").selectAll().execute()).map(toGroupQuota)
  return {
    ofUsers: new Map(users.map((quota) => [quota.userId, amountsOf(quota)])),
    ofGroups: new Map(groups.map((quota) => [quota.groupName, amountsOf(quota)])),
  }
}

const readUses = async (db: Kysely<Tables>) => ({
  members: await db.selectFrom("group_members").select(["group_name", "user_id"]).execute(),
  ranges: await db.selectFrom("ranges").select(["id", "made_for"]).execute(),
  direct: await db
    .selectFrom("range_grants as g")
    .innerJoin("users as u", "u.id", "g.user_id")
    .select(["g.range_id", "u.id", "u.number"])
    .execute(),
  machines: await db
    .selectFrom("machines as m")
    .innerJoin("ranges as r", "r.id", "m.pool")
    .where("m.template", "=", false)
    .selectAll("m")
    .execute(),
  deploying: await db
    .selectFrom("runs as run")
    .innerJoin("range_configs as c", "c.range_id", "run.range_id")
    .where("run.kind", "=", "deploy")
    .where("run.status", "=", "running")
    .select(["c.range_id", "c.deployed"])
    .execute(),
})

/** The rows decoded. A damaged one throws, so that nothing is decided without it. */
const factsFrom = (limits: SetLimits, rows: Awaited<ReturnType<typeof readUses>>): QuotaFacts => {
  const groups = Map.groupBy(rows.members, ({ user_id }) => user_id)
  const direct = Map.groupBy(rows.direct, ({ range_id }) => range_id)
  const machines = Map.groupBy(
    rows.machines.map(toRangeMachine).filter(({ isRouter }) => !isRouter),
    (machine) => machine.rangeId,
  )
  const texts = new Map(rows.deploying.map(({ range_id, deployed }) => [range_id, deployed === null ? "" : utf8(deployed)]))
  const counted = (row: (typeof rows.ranges)[number]) => {
    const id = rangeId.read(row.id)
    const owners = (direct.get(row.id) ?? []).map(({ id: user, number }) => ({ id: userId.read(user), number }))
    const text = texts.get(row.id)
    return {
      id,
      payer: payerOf(row.made_for === null ? undefined : userId.read(row.made_for), owners),
      machines: machines.get(id) ?? [],
      coming: text === undefined ? [] : configSizes(id, text),
    }
  }
  return {
    ...limits,
    groupsOf: (user) => (groups.get(user) ?? []).map(({ group_name }) => groupName.read(group_name)),
    ranges: rows.ranges.map(counted),
  }
}

/** One consistent snapshot only inside a transaction. */
export const readFacts = async (db: Kysely<Tables>): Promise<QuotaFacts> => factsFrom(await readLimits(db), await readUses(db))

/** The facts; undefined when nobody is limited, and nothing needs to be counted. */
const factsIfLimited = (tx: Transaction, system: Amounts) =>
  Effect.gen(function* () {
    const limits = yield* tx(readLimits)
    if (!isAnyLimited(limits, system)) return undefined
    const rows = yield* tx(readUses)
    return yield* Effect.try({ try: () => factsFrom(limits, rows), catch: (cause) => new QueryFailed({ cause }) })
  })

/** Fails when a user would be charged for more ranges than the user may have. */
export const refuseRangeOverQuota = (
  tx: Transaction,
  { id, madeFor }: Pick<Range, "id" | "madeFor">,
  system: Amounts = noAmounts,
) =>
  Effect.gen(function* () {
    const facts = yield* factsIfLimited(tx, system)
    const refused = facts && refusedRange(facts, { id, payer: madeFor }, system)
    if (refused !== undefined) return yield* refused
  })

/** Fails when the current configuration of a range takes more than its payer may take. */
export const refuseDeployOverQuota = (tx: Transaction, id: RangeId, system: Amounts) =>
  Effect.gen(function* () {
    const facts = yield* factsIfLimited(tx, system)
    if (facts === undefined) return
    const row = yield* tx((db) => db.selectFrom("range_configs").select("content").where("range_id", "=", id).executeTakeFirst())
    const refused = row && refusedDeploy(facts, id, utf8(row.content), system)
    if (refused !== undefined) return yield* refused
  })
