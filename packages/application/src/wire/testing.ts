import { namedAtOnce } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { hypervisorAway } from "./statuses.ts"

const items = Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String).check(Schema.isMaxLength(namedAtOnce))))

/** What is to be allowed or no longer allowed while testing. Absent, null and empty name nothing. */
export const AllowPayload = Schema.Struct({ domains: items, ips: items }).annotate({ identifier: "AllowPayload" })

export const ItemFailures = Schema.Array(Schema.Struct({ item: Schema.String, reason: Schema.String }))

/** The answer of a start and a stop. `warnings` and `runID` are ours. */
export const TestingResult = Schema.Struct({
  result: Schema.String,
  /** What the range's router cannot prevent; machines that could not be rolled back. */
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The run that did it. */
  runID: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "TestingResult" })

/** Of the operations that change what is allowed. */
export const allowStatuses = {
  200: "what became of each entry",
  400: "the body is malformed or wrongly typed, or names too many at once; userID names an unknown user",
  409: "testing is not on, or starting it or an earlier change did not come to its end; a run is changing the range; the router's rules cannot be planned: every reason is listed",
  502: hypervisorAway,
} as const
