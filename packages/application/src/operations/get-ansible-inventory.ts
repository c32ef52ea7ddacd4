import { type Range, rangeHosts, renderInventory } from "@rangewright/domain"
import { Machines, type RangeMachine, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { hostFacts } from "../range/hosts.ts"
import { machinePasswords } from "../range/passwords.ts"
import { deployedConfig } from "../range/read-config.ts"
import { TextResult } from "../wire/common.ts"
import { BooleanText } from "../wire/parameters.ts"

const hostsOf = (range: Range, machines: readonly RangeMachine[]) =>
  Effect.gen(function* () {
    const facts = { ...(yield* hostFacts(range.id)), passwords: yield* machinePasswords(range.id) }
    return rangeHosts(range, yield* deployedConfig(range.id), machines, facts)
  })

/** Audited, to record who read the passwords of which ranges. Not a change: clients send other query parameters with it. */
export const getAnsibleInventory = operation({
  id: "getAnsibleInventory",
  route: "GET /range/ansibleinventory",
  group: "Range",
  does: "read the inventory of a range",
  summary: "An Ansible inventory of the range, or of all ranges that the caller may use",
  access: "range-access",
  target: "range",
  wholeKeyOnly: true,
  recordedFirst: true,
  audited: ["allranges"],
  query: { allranges: Schema.optionalKey(BooleanText) },
  output: { type: "json", schema: TextResult },
  statuses: { 200: "the inventory as YAML" },
  handle: ({ range, user, query }) =>
    Effect.gen(function* () {
      const machineStore = yield* Machines
      const rangeStore = yield* Ranges
      if (!(query.allranges ?? false)) {
        const hosts = yield* hostsOf(range, yield* machineStore.ofRange(range.id))
        return { result: renderInventory([{ rangeId: range.id, hosts }]) }
      }
      const overviews = yield* rangeStore.overview(user.isAdmin ? {} : { for: user.id })
      const ranges = yield* Effect.forEach(overviews, ({ range: each, machines }) =>
        Effect.map(hostsOf(each, machines), (hosts) => ({ rangeId: each.id, hosts })),
      )
      return { result: renderInventory(ranges) }
    }),
})
