import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { blueprintArchive } from "../blueprint/export-blueprint.ts"
import { readableBlueprint } from "../blueprint/find-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { blueprintStatuses } from "../wire/statuses.ts"

export const exportBlueprint = operation({
  id: "exportBlueprint",
  route: "GET /blueprints/{blueprintID}/export",
  group: "Blueprint",
  does: "export a blueprint",
  summary: "An archive with everything that belongs to a blueprint",
  access: "user",
  accessNote: "its owner, those it is shared with, and administrators",
  target: "none",
  wholeKeyOnly: true,
  path: { blueprintID: Schema.String },
  output: { type: "download", contentType: "application/gzip" },
  statuses: {
    200: "a gzipped tar, the same bytes for the same blueprint",
    ...blueprintStatuses,
    500: "its files could not be packed",
  },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      return yield* blueprintArchive(yield* readableBlueprint(path.blueprintID, user))
    }),
})
