import { isRecordId, NotFound } from "@rangewright/domain"
import { Blueprints, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../../operation/operation.ts"

/** Pages show pictures without credentials: knowing the name is enough. */
export const recordFile = operation({
  id: "recordFile",
  route: "GET /api/files/{collection}/{recordID}/{filename}",
  base: "/",
  group: "Range",
  origin: "page",
  does: "read the picture of a blueprint or a range",
  summary: "The picture of a blueprint or a range",
  access: "anonymous",
  target: "none",
  path: { collection: Schema.String, recordID: Schema.String, filename: Schema.String },
  output: { type: "binary", contentType: "image/*" },
  statuses: { 200: "the picture", 404: "no such file" },
  handle: ({ path: { collection, recordID, filename } }) =>
    Effect.gen(function* () {
      const blueprints = yield* Blueprints
      const ranges = yield* Ranges
      const holder = collection === "blueprints" ? blueprints : collection === "ranges" ? ranges : undefined
      const picture = holder !== undefined && isRecordId(recordID) ? yield* holder.thumbnail(recordID, filename) : undefined
      if (picture === undefined) return yield* new NotFound({ what: "The requested resource wasn't found." })
      return { contentType: picture.type, bytes: picture.bytes }
    }),
})
