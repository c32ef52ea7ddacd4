import * as Schema from "effect/Schema"

/** `{"result": "<text>"}`: the answer of most changes. */
export const TextResult = Schema.Struct({ result: Schema.String }).annotate({ identifier: "TextResult" })

/** An object with unspecified members. */
export const AnyObject = Schema.Record(Schema.String, Schema.Unknown)

/** "Never" on the wire: clients test for Go's zero time and fail on an empty text. */
export const zeroTime = "0001-01-01T00:00:00Z"

export const wireTime = (at: Date | undefined): string => (at === undefined ? zeroTime : at.toISOString())

/** A time in the record API: with a blank instead of the T; never is the empty text. */
export const recordTime = (at: Date | undefined): string => (at === undefined ? "" : at.toISOString().replace("T", " "))
