import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { recordIds } from "../../blueprint/record-ids.ts"
import { operation } from "../../operation/operation.ts"
import { blueprintRecord, BlueprintRecord } from "../../wire/blueprint-record.ts"
import { filterRecords, pageOf, pageQuery, recordPage } from "./page.ts"

export const recordListBlueprints = operation({
  id: "recordListBlueprints",
  route: "GET /api/collections/blueprints/records",
  base: "/",
  group: "Blueprint",
  origin: "page",
  does: "list blueprints",
  summary: "Blueprints as records: those that the caller may read",
  access: "user",
  accessNote: "only blueprints the caller can read",
  target: "none",
  query: pageQuery,
  output: { type: "json", schema: recordPage(BlueprintRecord) },
  statuses: {
    200: "one page of blueprints, most recently changed first",
    400: "the filter is not understood",
    401: "no valid credentials",
  },
  handle: ({ query, user }) =>
    Effect.gen(function* () {
      const blueprints = yield* Blueprints
      const found = yield* blueprints.list(user.isAdmin ? {} : { for: user.id })
      const ids = yield* recordIds
      const records = found.map((blueprint) => blueprintRecord(blueprint, ids))
      return pageOf(yield* filterRecords(records, query.filter), query)
    }),
})
