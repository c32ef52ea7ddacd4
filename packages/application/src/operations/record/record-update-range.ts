import { InvalidInput, isRecordId, mostPictureBytes, NotFound, rangeTextProblems, type RecordId } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { requireRangeAccess } from "../../access/select-range.ts"
import { uploadedPicture } from "../../blueprint/picture.ts"
import { operation } from "../../operation/operation.ts"
import { keepingPicture } from "../../range/keep-picture.ts"
import { rangeRecord, RangeRecord } from "../../wire/range-record.ts"
import { keptFields, withoutKept } from "./kept-fields.ts"

/** Hides whether a record exists from those who may not change it. */
const notFound = (): NotFound => new NotFound({ what: "The requested resource wasn't found." })

const kept = Struct.pick(RangeRecord.fields, [
  "id",
  "rangeID",
  "rangeNumber",
  "rangeState",
  "testingEnabled",
  "inactivityShutdownTimeout",
])
const elsewhere = {
  inactivityShutdownTimeout: "PUT /range/auto-shutdown",
  testingEnabled: "PUT /testing/start and PUT /testing/stop",
}

/** Changes name, description, purpose and picture. */
export const recordUpdateRange = operation({
  id: "recordUpdateRange",
  route: "PATCH /api/collections/ranges/records/{id}",
  base: "/",
  group: "Range",
  origin: "page",
  does: "change the description of a range",
  summary: "Change a range's name, description or purpose, and its picture",
  access: "range-owner",
  accessNote: "a direct user, a manager of its group, or an administrator",
  target: "none",
  path: { id: Schema.String },
  body: {
    type: "json-or-multipart",
    required: true,
    schema: Schema.Struct({
      name: Schema.optionalKey(Schema.String),
      description: Schema.optionalKey(Schema.String),
      purpose: Schema.optionalKey(Schema.String),
      thumbnail: Schema.optionalKey(Schema.String),
      ...keptFields(kept),
    }),
    file: "thumbnail",
    maxBytes: mostPictureBytes,
    emptyTexts: true,
  },
  output: { type: "json", schema: RangeRecord },
  statuses: {
    200: "the range as it is now",
    400: "a field is not valid, or cannot be changed here; the picture is not one",
    413: "the form is too large",
    401: "no valid credentials",
    403: "the picture is more than the user who is charged for the range may keep on the service's host",
    404: "no such record, or not the caller's to change",
  },
  handle: ({ path, body, file, user }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const machines = yield* Machines
      const range = isRecordId(path.id) ? yield* ranges.findByRecordId(path.id as RecordId) : undefined
      if (range === undefined) return yield* notFound()
      yield* requireRangeAccess(range, user, "range-owner").pipe(Effect.catchTag("Forbidden", () => Effect.fail(notFound())))
      const count = (yield* machines.ofRange(range.id)).filter((machine) => !machine.template).length
      const { thumbnail, ...change } = yield* withoutKept(kept, body, rangeRecord(range, count), elsewhere)
      const issues = rangeTextProblems(change)
      if (issues.length > 0) return yield* new InvalidInput({ what: "Failed to update record.", issues })
      const picture = file && (yield* uploadedPicture(file))
      // an empty text instead of the picture removes it; the name of the current one changes nothing
      const removal = thumbnail === "" ? { thumbnail: undefined } : {}
      const changing = ranges.change(range.id, { ...change, ...removal, ...(picture && { thumbnail: picture }) })
      const changed = yield* picture === undefined ? changing : changing.pipe(keepingPicture(range, picture))
      return rangeRecord(changed, count)
    }),
})
