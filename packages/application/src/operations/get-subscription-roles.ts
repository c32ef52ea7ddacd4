import { SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { SubscriptionRole, subscriptionRole } from "../wire/subscription-role.ts"

export const getSubscriptionRoles = operation({
  id: "getSubscriptionRoles",
  route: "GET /ansible/subscription-roles",
  group: "Ansible",
  does: "list subscription roles",
  summary: "The roles offered to subscribers, regardless of the licence in force; none when no registry is configured",
  access: "user",
  target: "none",
  output: { type: "json", schema: Schema.Array(SubscriptionRole) },
  statuses: {
    200: "the roles on offer, by name",
    500: "the registry is unreachable and was never reached, or cannot be trusted",
  },
  handle: () =>
    Effect.gen(function* () {
      const registry = yield* SubscriptionProvider
      return (yield* registry.list).map(subscriptionRole)
    }),
})
