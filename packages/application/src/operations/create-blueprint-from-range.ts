import { Failed, firstBlueprintVersion, howTo } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { rangeOfBody } from "../access/select-range.ts"
import { stillThere } from "../access/still-there.ts"
import { freeBlueprintId, makeFromConfig } from "../blueprint/make-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { BlueprintCreated, installedForNew } from "../wire/blueprint.ts"
import { diskLimitReached } from "../wire/statuses.ts"

export const createBlueprintFromRange = operation({
  id: "createBlueprintFromRange",
  route: "POST /blueprints/from-range",
  group: "Blueprint",
  does: "make a blueprint from a range",
  summary: "Create a blueprint with the configuration of a range, byte for byte",
  access: "range-access",
  target: "none",
  query: { rangeID: Schema.optionalKey(Schema.String) },
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      blueprintID: Schema.String,
      name: Schema.optionalKey(Schema.String),
      description: Schema.optionalKey(Schema.String),
      rangeID: Schema.optionalKey(Schema.String),
    }),
  },
  output: { type: "json", schema: BlueprintCreated, status: 201 },
  statuses: {
    201: "the blueprint was created, and what it requires was installed as far as it was available",
    400: "the ID or a member is not allowed; the body is malformed",
    409: "the ID is in use",
    500: "the range has no configuration; roles that are only on this server cannot be included",
    403: `the caller may not use the range; ${diskLimitReached}`,
    404: "the range is unknown, or none is selected",
  },
  handle: ({ body, range: sentFor, user }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const id = yield* freeBlueprintId(body.blueprintID)
      const range = yield* rangeOfBody(body.rangeID, sentFor, user)
      const stored = yield* ranges.config(range.id)
      if (stored === undefined) {
        yield* stillThere({ ranges: [range] })
        return yield* new Failed({
          what: `Cannot create blueprint ${id}: range ${range.id} has no configuration`,
          hint: `Upload one: ${howTo("PUT /range/config", {}, range.id)}.`,
        })
      }
      const text = {
        // clients send an empty text for what their user left out; the longest names leave no room for this suffix
        name: body.name || `${range.name.slice(0, 240)} Blueprint`,
        description: body.description || `Configuration of range ${range.id}`,
        version: firstBlueprintVersion,
        tags: [],
        minVersion: "",
      }
      const outcomes = yield* makeFromConfig(id, text, stored.text, user)
      return { result: `Blueprint ${id} created from range ${range.id}`, blueprintID: id, ...installedForNew(outcomes) }
    }),
})
