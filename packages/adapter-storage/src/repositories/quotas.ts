import { type Amounts, noAmounts } from "@rangewright/domain"
import { Quotas } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { amountsOf, groupQuotas, toUserQuota, userQuotas } from "../records/quota.ts"
import { first } from "../schema/table.ts"
import { readFacts, readLimits } from "./quota-facts.ts"
import { requireGroup, requireUser } from "./require.ts"

export const quotasLayer: Layer.Layer<Quotas, never, Database> = Layer.effect(
  Quotas,
  Effect.gen(function* () {
    const database = yield* Database
    const own = database.prepared("read a quota", "select * from user_quotas where user_id = ?", first(toUserQuota))
    return {
      ofUser: (user) => Effect.map(own(user), (quota) => (quota === undefined ? noAmounts : amountsOf(quota))),
      limits: database.read("read quotas", readLimits),
      facts: database.read("read quotas", readFacts),
      limitUsers: (users, limits: Partial<Amounts>) =>
        database.serializedWrite("limit users", (tx) =>
          Effect.gen(function* () {
            for (const userId of users) {
              yield* requireUser(tx, userId)
              const row = userQuotas.write({ userId, ...noAmounts, ...limits })
              yield* tx((db) =>
                db
                  .insertInto("user_quotas")
                  .values(row)
                  .onConflict((conflict) => conflict.column("user_id").doUpdateSet(userQuotas.write({ userId, ...limits })))
                  .execute(),
              )
            }
          }),
        ),
      limitGroups: (groups, limits: Partial<Amounts>) =>
        database.serializedWrite("limit groups", (tx) =>
          Effect.gen(function* () {
            for (const groupName of groups) {
              yield* requireGroup(tx, groupName)
              const row = groupQuotas.write({ groupName, ...noAmounts, ...limits })
              yield* tx((db) =>
                db
                  .insertInto("group_quotas")
                  .values(row)
                  .onConflict((conflict) =>
                    conflict.column("group_name").doUpdateSet(groupQuotas.write({ groupName, ...limits })),
                  )
                  .execute(),
              )
            }
          }),
        ),
    }
  }),
)
