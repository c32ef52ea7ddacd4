import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { blueprintConfig, readableBlueprint } from "../blueprint/find-blueprint.ts"
import { versionOf } from "../operation/versions.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { BooleanText } from "../wire/parameters.ts"
import { blueprintStatuses } from "../wire/statuses.ts"

export const getBlueprintConfig = operation({
  id: "getBlueprintConfig",
  route: "GET /blueprints/{blueprintID}/config",
  group: "Blueprint",
  does: "read the configuration of a blueprint",
  summary: "The configuration of a blueprint, byte for byte; with download as a file; a change may send its ETag in If-Match",
  access: "user",
  accessNote: "its owner, those it is shared with, and administrators",
  target: "none",
  wholeKeyOnly: true,
  path: { blueprintID: Schema.String },
  query: { download: Schema.optionalKey(BooleanText) },
  output: { type: "json-or-file", schema: TextResult, contentType: "application/x-yaml" },
  statuses: {
    200: "the configuration, as text or as a file",
    ...blueprintStatuses,
    400: "download is not a boolean",
  },
  handle: ({ path, query, user }) =>
    Effect.gen(function* () {
      const blueprint = yield* readableBlueprint(path.blueprintID, user)
      const text = yield* blueprintConfig(blueprint)
      return query.download === true
        ? { file: { name: blueprint.name.toLowerCase(), ending: ".yml", text } }
        : { json: { result: text }, version: yield* versionOf(text) }
    }),
})
