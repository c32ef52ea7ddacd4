import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { countUse } from "../access/count-use.ts"
import { rangeOfBody } from "../access/select-range.ts"
import { Activity } from "../activity.ts"
import { blueprintConfig, readableBlueprint } from "../blueprint/find-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { storeConfig } from "../range/store-config.ts"
import { TextResult } from "../wire/common.ts"

export const applyBlueprintToRange = operation({
  id: "applyBlueprintToRange",
  route: "POST /blueprints/{blueprintID}/apply",
  group: "Blueprint",
  does: "apply a blueprint to a range",
  summary: "Check a blueprint's configuration for a range and make it the range's; nothing is deployed",
  access: "range-access",
  accessNote: "and the blueprint's owner, those it is shared with, and administrators",
  target: "none",
  query: { rangeID: Schema.optionalKey(Schema.String) },
  path: { blueprintID: Schema.String },
  body: {
    type: "json",
    required: false,
    schema: Schema.Struct({ rangeID: Schema.optionalKey(Schema.String), force: Schema.optionalKey(Schema.Boolean) }),
  },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the range has the blueprint's configuration; warnings follow in the text",
    400: "the configuration breaks a rule for this range: every finding is listed; the body is malformed",
    403: "the blueprint is not shared with the caller; the caller may not use the range",
    404: "no blueprint has this ID; the range is unknown, or none is selected",
    409: "testing mode is on and force is not set",
  },
  handle: ({ path, body = {}, range: sentFor, caller, user, key }) =>
    Effect.gen(function* () {
      const activity = yield* Activity
      const range = yield* rangeOfBody(body.rangeID, sentFor, user)
      const at = new Date(yield* Clock.currentTimeMillis)
      countUse(activity, range.id, { at, by: caller.id, request: "POST /blueprints/{blueprintID}/apply", keyId: key?.id })
      const blueprint = yield* readableBlueprint(path.blueprintID, user)
      const lines = yield* storeConfig({ range, user, force: body.force ?? false, text: blueprintConfig(blueprint) })
      return { result: [`Blueprint ${blueprint.id} applied to range ${range.id}`, ...lines].join("\n") }
    }),
})
