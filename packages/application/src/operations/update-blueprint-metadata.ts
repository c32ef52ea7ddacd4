import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ownBlueprint } from "../blueprint/find-blueprint.ts"
import { checkBlueprintText } from "../blueprint/make-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { blueprintFields, blueprintText } from "../wire/blueprint.ts"
import { ownBlueprintStatuses } from "../wire/statuses.ts"

export const updateBlueprintMetadata = operation({
  id: "updateBlueprintMetadata",
  route: "PATCH /blueprints/{blueprintID}",
  group: "Blueprint",
  origin: "page",
  does: "change the description of a blueprint",
  summary: "Change the description of a blueprint",
  access: "user",
  accessNote: "its owner and administrators",
  target: "none",
  path: { blueprintID: Schema.String },
  body: { type: "json", required: true, schema: Schema.Struct(blueprintFields) },
  output: {
    type: "json",
    schema: Schema.Struct({ result: Schema.String, blueprintID: Schema.String }).annotate({ identifier: "BlueprintChanged" }),
  },
  statuses: {
    200: "the blueprint was changed; what was not named keeps its value",
    ...ownBlueprintStatuses,
    400: "a member is not allowed; the body is malformed",
  },
  handle: ({ path, body, user }) =>
    Effect.gen(function* () {
      const blueprints = yield* Blueprints
      const { id } = yield* ownBlueprint(path.blueprintID, user, "change")
      const change = blueprintText(body)
      yield* checkBlueprintText(`change blueprint ${id}`, change)
      yield* blueprints.change(id, change)
      return { result: `Blueprint ${id} changed`, blueprintID: id }
    }),
})
