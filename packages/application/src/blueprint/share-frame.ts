import * as Schema from "effect/Schema"
import { BulkResult } from "../wire/bulk.ts"
import { blueprintStatuses } from "../wire/statuses.ts"

/** The common declaration of the operations that share and unshare a blueprint. */
export const shareFrame = {
  group: "Blueprint",
  access: "user",
  target: "none",
  path: { blueprintID: Schema.String },
  output: { type: "json", schema: BulkResult },
  statuses: {
    200: "the outcome for each entry, even if all were refused",
    ...blueprintStatuses,
    400: "the list is missing or empty; the body is malformed",
  },
} as const
