import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const),
])

/** The boolean that a text in a query or a form says, in the forms that Go parses; undefined for other texts. */
export const booleanIn = (text: string): boolean | undefined => booleans.get(text)

/** A boolean in a query or a form. */
export const BooleanText = Schema.String.pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode: SchemaGetter.transformEffect((text: string, options) => {
      const value = booleanIn(text)
      return value === undefined
        ? Effect.fail(new SchemaIssue.InvalidValue({ message: "Expected true or false" }, text, options))
        : Effect.succeed(value)
    }),
    encode: SchemaGetter.transform(String),
  }),
)

/** A boolean in a form; an empty field is false. */
export const FormBoolean = Schema.String.pipe(
  Schema.decodeTo(BooleanText, {
    decode: SchemaGetter.transform((text: string) => (text === "" ? "false" : text)),
    encode: SchemaGetter.transform((text: string) => text),
  }),
)

/** A whole number from 0 in a query or a path; at most nine digits. */
export const WholeNumberText = Schema.String.pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transformEffect((text: string, options) =>
      /^\d{1,9}$/u.test(text)
        ? Effect.succeed(Number(text))
        : Effect.fail(new SchemaIssue.InvalidValue({ message: "Expected a whole number from 0" }, text, options)),
    ),
    encode: SchemaGetter.transform(String),
  }),
)

/** The number of a VM in a body: clients send it as a text, too. */
export const SentVmid = Schema.Union([Schema.Int, Schema.String.check(Schema.isPattern(/^\d{1,9}$/u))])

/** A time in a query: RFC 3339, with a zone. */
export const TimeText = Schema.String.pipe(
  Schema.decodeTo(Schema.Date, {
    decode: SchemaGetter.transformEffect((text: string, options) => {
      const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/iu.test(text)
        ? new Date(text)
        : undefined
      return time === undefined || Number.isNaN(time.getTime())
        ? Effect.fail(new SchemaIssue.InvalidValue({ message: "Expected a time such as 2026-01-31T08:00:00Z" }, text, options))
        : Effect.succeed(time)
    }),
    encode: SchemaGetter.transform((time: Date) => time.toISOString()),
  }),
)

/** Items of a comma-separated list, trimmed, without empty ones. */
export const commaList = (text: string): readonly string[] =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

/** A comma-separated list in a query. */
export const CommaListText = Schema.String.pipe(
  Schema.decodeTo(Schema.Array(Schema.String), {
    decode: SchemaGetter.transform(commaList),
    encode: SchemaGetter.transform((items: readonly string[]) => items.join(",")),
  }),
)

/** A comma-separated list of these words in a query. */
export const literalsIn = <const W extends readonly string[]>(words: W) =>
  Schema.String.pipe(
    Schema.decodeTo(Schema.Array(Schema.Literals(words)), {
      decode: SchemaGetter.transform((text: string) => commaList(text) as readonly W[number][]),
      encode: SchemaGetter.transform((items: readonly W[number][]) => items.join(",")),
    }),
  )
