import { artifactKinds } from "@rangewright/domain"
import * as Schema from "effect/Schema"

/** A user's disk use on the service's host, and its parts, largest first. */
export const DiskUse = Schema.Struct({
  limitBytes: Schema.Int.annotate({ description: "The most that the user may keep; 0: no limit" }),
  usedBytes: Schema.Int.annotate({ description: "What the user keeps, with content that several things need once" }),
  things: Schema.Array(
    Schema.Struct({
      kind: Schema.Literals(["blueprint", "range", "source", ...artifactKinds]),
      name: Schema.String,
      bytes: Schema.Int.annotate({ description: "What it takes with all the content that it needs" }),
      shared: Schema.Boolean.annotate({
        description:
          "Others of the user's things need the same content: it counts once in usedBytes, and stays until the last of them is removed",
      }),
    }),
  ),
}).annotate({ identifier: "DiskUse" })
