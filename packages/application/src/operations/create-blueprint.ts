import { exampleRangeConfig, firstBlueprintVersion } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { freeBlueprintId, makeFromConfig, wellFormedConfig } from "../blueprint/make-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { BlueprintCreated, blueprintFields, blueprintText, installedForNew } from "../wire/blueprint.ts"
import { diskLimitReached } from "../wire/statuses.ts"

export const createBlueprint = operation({
  id: "createBlueprint",
  route: "POST /blueprints",
  group: "Blueprint",
  does: "create a blueprint",
  summary: "Create a blueprint from a configuration, or from the example",
  access: "user",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ blueprintID: Schema.String, ...blueprintFields, config: Schema.optionalKey(Schema.String) }),
  },
  output: { type: "json", schema: BlueprintCreated, status: 201 },
  statuses: {
    201: "the blueprint was created, and what it requires was installed as far as it was available",
    400: "the ID or a member is not allowed; the configuration breaks the schema; the body is malformed",
    403: diskLimitReached,
    409: "the ID is in use",
    500: "roles that are only on this server cannot be included; unexpected server failure",
  },
  handle: ({ body, user }) =>
    Effect.gen(function* () {
      const id = yield* freeBlueprintId(body.blueprintID)
      // clients send an empty text for what their user left out
      const config = yield* wellFormedConfig(body.config || exampleRangeConfig)
      const unsaid = { description: "", tags: [], minVersion: "" }
      const text = { ...unsaid, ...blueprintText(body), name: body.name || id, version: body.version || firstBlueprintVersion }
      const outcomes = yield* makeFromConfig(id, text, config, user)
      return { result: `Blueprint ${id} created`, blueprintID: id, ...installedForNew(outcomes) }
    }),
})
