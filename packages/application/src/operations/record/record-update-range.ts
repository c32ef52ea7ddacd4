import { InvalidInput, isRecordId, NotFound, rangeTextProblems, type RecordId } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { requireRangeAccess } from "../../access/select-range.ts"
import { operation } from "../../operation/operation.ts"
import { rangeRecord, RangeRecord } from "../../wire/range-record.ts"

/** Hides whether a record exists from those who may not change it. */
const notFound = (): NotFound => new NotFound({ what: "The requested resource wasn't found." })

/** Changes name, description and purpose; other fields in the request are ignored. */
export const recordUpdateRange = operation({
  id: "recordUpdateRange",
  route: "PATCH /api/collections/ranges/records/{id}",
  base: "/",
  group: "Range",
  origin: "page",
  does: "change the description of a range",
  summary: "Change a range's name, description or purpose",
  access: "range-owner",
  accessNote: "a direct user, a manager of its group, or an administrator",
  target: "none",
  path: { id: Schema.String },
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      name: Schema.optionalKey(Schema.String),
      description: Schema.optionalKey(Schema.String),
      purpose: Schema.optionalKey(Schema.String),
    }),
  },
  output: { type: "json", schema: RangeRecord },
  statuses: {
    200: "the range as it is now",
    400: "a field is not valid",
    401: "no valid credentials",
    404: "no such record, or not the caller's to change",
  },
  handle: ({ path, body, user }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const machines = yield* Machines
      const range = isRecordId(path.id) ? yield* ranges.findByRecordId(path.id as RecordId) : undefined
      if (range === undefined) return yield* notFound()
      yield* requireRangeAccess(range, user, "range-owner").pipe(Effect.catchTag("Forbidden", () => Effect.fail(notFound())))
      const issues = rangeTextProblems(body)
      if (issues.length > 0) return yield* new InvalidInput({ what: "Failed to update record.", issues })
      const changed = yield* ranges.change(range.id, body)
      return rangeRecord(changed, (yield* machines.ofRange(range.id)).filter((machine) => !machine.template).length)
    }),
})
