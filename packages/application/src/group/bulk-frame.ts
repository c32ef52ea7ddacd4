import * as Schema from "effect/Schema"
import { BulkResult } from "../wire/bulk.ts"

/** The common declaration of the operations that add to a group or remove from it. */
export const bulkFrame = {
  group: "Group",
  access: "group-manager",
  accessNote: "managers of the group and administrators",
  target: "group-in-path",
  path: { groupName: Schema.String },
  output: { type: "json", schema: BulkResult },
  statuses: {
    200: "the outcome for each entry, even if all were refused",
    400: "the list is missing or empty; the body is malformed",
  },
} as const
