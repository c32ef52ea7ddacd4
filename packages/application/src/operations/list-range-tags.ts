import { deployTags } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"

/** Tags that clients know but that no deploy runs: files are rendered on request, users are managed by the domain. */
const shownOnly = ["generate-rdp", "user-management"]

export const listRangeTags = operation({
  id: "listRangeTags",
  route: "GET /range/tags",
  group: "Range",
  does: "list the tags of deploys",
  summary: "Tags that select parts of a deploy",
  access: "user",
  target: "none",
  output: { type: "json", schema: Schema.Struct({ tags: Schema.Array(Schema.String) }) },
  statuses: { 200: "the tags, in alphabetical order" },
  handle: () => Effect.succeed({ tags: [...deployTags, ...shownOnly].toSorted() }),
})
