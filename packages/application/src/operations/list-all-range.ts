import type { User } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { renderedRanges } from "../range/rendered-ranges.ts"
import { isWhole, pageOf, pageQuery } from "../operation/page.ts"
import { BooleanText } from "../wire/parameters.ts"
import { RangeObject } from "../wire/range-object.ts"

const shown = Effect.fnUntraced(function* (user: User, details: boolean) {
  const ranges = yield* Ranges
  const grants = user.isAdmin ? undefined : yield* ranges.grantsOf(user.id)
  return yield* renderedRanges(grants && new Set(grants.map((grant) => grant.rangeId)), details ? "detailed" : "plain")
})

const decoder = new TextDecoder()

export const listAllRange = operation({
  id: "listAllRange",
  route: "GET /range/all",
  group: "Range",
  does: "list ranges",
  summary: "All ranges that the caller may use, with their machines",
  access: "user",
  accessNote: "administrators see all, others what they may use",
  target: "none",
  query: {
    details: Schema.optionalKey(BooleanText),
    ...pageQuery(["rangeNumber", "rangeID", "name", "rangeState", "lastDeployment", "numberOfVMs"], RangeObject.fields),
  },
  output: { type: "marked-json", schema: Schema.Array(RangeObject) },
  statuses: {
    200: "the ranges, ascending by number, or those that the query asks for",
    400: "sort, limit, cursor or fields is not valid for this list",
  },
  handle: ({ user, query }) =>
    Effect.gen(function* () {
      const all = yield* shown(user, query.details ?? false)
      if (isWhole(query)) return { prepared: all }
      return yield* pageOf("list ranges", JSON.parse(decoder.decode(all)) as readonly (typeof RangeObject.Type)[], query, {
        id: "rangeNumber",
        texts: ({ rangeID, name, VMs }) => [rangeID, name, ...VMs.flatMap((vm) => [vm.name, vm.ip])],
      })
    }),
})
