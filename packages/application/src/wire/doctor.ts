import * as Schema from "effect/Schema"

const FindingObject = Schema.Struct({
  level: Schema.Literals(["ok", "warn", "fail"]),
  what: Schema.String,
  detail: Schema.String,
  /** What to do about it. */
  hint: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "Finding" })

export const DoctorResult = Schema.Struct({
  checkedAt: Schema.String,
  findings: Schema.Array(FindingObject),
}).annotate({ identifier: "DoctorResult" })
