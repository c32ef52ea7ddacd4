import { InvalidInput } from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ownBlueprint } from "../blueprint/find-blueprint.ts"
import { wellFormedConfig } from "../blueprint/make-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { ownBlueprintStatuses } from "../wire/statuses.ts"

export const updateBlueprintConfig = operation({
  id: "updateBlueprintConfig",
  route: "PUT /blueprints/{blueprintID}/config",
  group: "Blueprint",
  summary: "Check a configuration and make it the blueprint's, byte for byte; ranges keep theirs",
  access: "user",
  accessNote: "its owner and administrators",
  target: "none",
  path: { blueprintID: Schema.String },
  body: { type: "json", required: true, schema: Schema.Struct({ config: Schema.String }) },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the configuration was stored",
    ...ownBlueprintStatuses,
    400: "the configuration is blank or breaks the schema; the body is malformed; userID names an unknown user",
  },
  handle: ({ path, body, user }) =>
    Effect.gen(function* () {
      const blueprint = yield* ownBlueprint(path.blueprintID, user, "change")
      if (body.config.trim() === "")
        return yield* Effect.fail(
          new InvalidInput({
            what: `Cannot change blueprint ${blueprint.id}: the configuration is blank`,
            issues: [{ path: "config", message: "a range configuration is needed" }],
          }),
        )
      yield* (yield* Blueprints).setConfig(blueprint.id, yield* wellFormedConfig(body.config))
      return { result: `Configuration of blueprint ${blueprint.id} stored` }
    }),
})
