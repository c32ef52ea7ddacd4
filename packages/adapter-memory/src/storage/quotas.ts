import { configSizes, GroupNotFound, noAmounts, payerOf, type QuotaFacts, rangeOf, UserNotFound } from "@rangewright/domain"
import { Quotas } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import { machinesOf } from "./machines.ts"
import type { MemoryStore } from "./memory-store.ts"

/** All facts on which quotas are decided. */
export const quotaFacts = (store: MemoryStore): QuotaFacts => {
  const deploying = new Set(
    [...store.runs.values()].flatMap(({ record }) =>
      record.kind === "deploy" && record.status === "running" ? [rangeOf(record)] : [],
    ),
  )
  return {
    ofUsers: store.userQuotas,
    ofGroups: store.groupQuotas,
    groupsOf: (user) => [...store.groups.values()].filter(({ roles }) => roles.has(user)).map(({ group }) => group.name),
    ranges: [...store.ranges.values()].map(({ id, madeFor }) => ({
      id,
      payer: payerOf(
        madeFor,
        [...(store.grants.get(id) ?? [])].flatMap((user) => store.users.get(user)?.user ?? []),
      ),
      machines: machinesOf(store, id).filter(({ isRouter }) => !isRouter),
      coming: deploying.has(id) ? configSizes(id, store.deployedConfigs.get(id) ?? "") : [],
    })),
  }
}

export const quotasLayer = (store: MemoryStore): Layer.Layer<Quotas> => {
  const { atomically } = writesTo(store)
  return Layer.succeed(Quotas, {
    ofUser: (user) => Effect.sync(() => store.userQuotas.get(user) ?? noAmounts),
    limits: Effect.sync(() => ({ ofUsers: store.userQuotas, ofGroups: store.groupQuotas })),
    facts: Effect.sync(() => quotaFacts(store)),
    limitUsers: (users, limits) =>
      atomically(function* () {
        for (const userId of users) if (!store.users.has(userId)) yield* Result.fail(new UserNotFound({ userId }))
        for (const userId of users) store.userQuotas.set(userId, { ...(store.userQuotas.get(userId) ?? noAmounts), ...limits })
      }),
    limitGroups: (groups, limits) =>
      atomically(function* () {
        for (const group of groups) if (!store.groups.has(group)) yield* Result.fail(new GroupNotFound({ group }))
        for (const group of groups) store.groupQuotas.set(group, { ...(store.groupQuotas.get(group) ?? noAmounts), ...limits })
      }),
  })
}
