import { Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readableBlueprint } from "../blueprint/find-blueprint.ts"
import { readinessOf } from "../blueprint/readiness.ts"
import { operation } from "../operation/operation.ts"
import { blueprintDetail, BlueprintDetail } from "../wire/blueprint.ts"
import { blueprintStatuses } from "../wire/statuses.ts"

export const getBlueprintDetail = operation({
  id: "getBlueprintDetail",
  route: "GET /blueprints/{blueprintID}",
  group: "Blueprint",
  does: "read a blueprint",
  summary: "A blueprint, and whether the templates and roles that it needs are available",
  access: "user",
  accessNote: "its owner, those it is shared with, and administrators",
  target: "none",
  path: { blueprintID: Schema.String },
  output: { type: "json", schema: BlueprintDetail },
  statuses: { 200: "the blueprint; what is unknown counts as unavailable", ...blueprintStatuses },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const sources = yield* Sources
      const blueprint = yield* readableBlueprint(path.blueprintID, user)
      const { origin } = blueprint
      const source = origin === undefined ? undefined : yield* sources.findByRecordId(origin.source)
      return blueprintDetail(blueprint, yield* readinessOf(blueprint, user), source)
    }),
})
