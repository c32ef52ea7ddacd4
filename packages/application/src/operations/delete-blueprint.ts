import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ownBlueprint } from "../blueprint/find-blueprint.ts"
import { forgetBlueprint } from "../blueprint/forget-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { ownBlueprintStatuses } from "../wire/statuses.ts"

export const deleteBlueprint = operation({
  id: "deleteBlueprint",
  route: "DELETE /blueprints/{blueprintID}",
  group: "Blueprint",
  does: "delete a blueprint",
  summary: "Delete a blueprint; ranges that it was applied to keep their configuration",
  access: "user",
  accessNote: "its owner and administrators",
  target: "none",
  path: { blueprintID: Schema.String },
  output: { type: "json", schema: TextResult },
  statuses: { 200: "the blueprint was deleted", ...ownBlueprintStatuses },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const blueprints = yield* Blueprints
      const { id, recordId } = yield* ownBlueprint(path.blueprintID, user, "delete")
      yield* blueprints.remove(id)
      yield* forgetBlueprint(recordId)
      return { result: `Blueprint ${id} deleted` }
    }),
})
