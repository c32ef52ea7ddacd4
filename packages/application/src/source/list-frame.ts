import * as Schema from "effect/Schema"
import { actingAs } from "./visible-source.ts"

/** The common declaration of the operations that list what was installed from a source. */
export const listFrame = {
  group: "Sources",
  access: "user",
  accessNote: "the source's owner and administrators",
  target: "none",
  path: { sourceID: Schema.String },
  query: actingAs,
} as const
