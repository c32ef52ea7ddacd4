import { rangeHosts, renderInventory } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { loadHosts } from "../range/hosts.ts"
import { storedConfig } from "../range/read-config.ts"
import { TextResult } from "../wire/common.ts"
import { BooleanText } from "../wire/parameters.ts"
import { rangeStatuses } from "../wire/statuses.ts"

export const getAnsibleInventory = operation({
  id: "getAnsibleInventory",
  route: "GET /range/ansibleinventory",
  group: "Range",
  summary: "An Ansible inventory of the range, or of all ranges that the caller may use",
  access: "range-access",
  target: "range",
  query: { allranges: Schema.optionalKey(BooleanText) },
  output: { type: "json", schema: TextResult },
  statuses: { 200: "the inventory as YAML", ...rangeStatuses },
  handle: ({ range, user, query }) =>
    Effect.gen(function* () {
      if (!(query.allranges ?? false)) {
        const { hosts } = yield* loadHosts(range)
        return { result: renderInventory([{ rangeId: range.id, hosts }]) }
      }
      const overviews = yield* (yield* Ranges).overview(user.isAdmin ? {} : { for: user.id })
      const ranges = yield* Effect.forEach(overviews, ({ range: each, machines }) =>
        Effect.map(storedConfig(each.id), (config) => ({ rangeId: each.id, hosts: rangeHosts(each, config, machines) })),
      )
      return { result: renderInventory(ranges) }
    }),
})
