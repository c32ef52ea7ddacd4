import { Failed, renderHostsFile, howTo } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { loadHosts } from "../range/hosts.ts"
import { TextResult } from "../wire/common.ts"

export const getEtcHosts = operation({
  id: "getEtcHosts",
  route: "GET /range/etchosts",
  group: "Range",
  does: "read the hosts file of a range",
  summary: "Names and addresses of the range's machines, for a hosts file",
  access: "range-access",
  target: "range",
  output: { type: "json", schema: TextResult },
  statuses: { 200: "lines for a hosts file", 500: "the range was never deployed" },
  handle: ({ range }) =>
    Effect.gen(function* () {
      if (range.lastDeploymentAt === undefined)
        return yield* new Failed({
          what: `Range ${range.id} has no hosts file: it was never deployed`,
          hint: `Deploy it: ${howTo("POST /range/deploy", {}, range.id)}.`,
        })
      return { result: renderHostsFile((yield* loadHosts(range)).hosts) }
    }),
})
