import { InvalidInput } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

type Fields = Readonly<Record<string, Schema.Top>>

/**
 * Fields of a record that an update of it must leave as they are. They are part of its body, because clients send records whole: silence
 * about a different value would pass for a change.
 */
export const keptFields = <const F extends Fields>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Schema.optionalKey(field)])) as {
    readonly [N in keyof F]: Schema.optionalKey<F[N]>
  }

/**
 * The body without the kept fields. Fails if one of them was sent with another value than the record has, naming each such field. `elsewhere`:
 * the operations that change some of them.
 */
export const withoutKept = <F extends Fields, B extends object>(
  fields: F,
  body: B,
  record: Readonly<Record<string, unknown>>,
  elsewhere: Readonly<Record<string, string>>,
): Effect.Effect<Omit<B, keyof F>, InvalidInput> => {
  const sent = Object.entries(body)
  const issues = sent
    // both come from JSON, and no kept field is an object
    .filter(([name, value]) => name in fields && JSON.stringify(value) !== JSON.stringify(record[name]))
    .map(([path]) => ({
      path,
      message: `it cannot be changed here${elsewhere[path] === undefined ? "" : `: use ${elsewhere[path]}`}`,
    }))
  return issues.length === 0
    ? Effect.succeed(Object.fromEntries(sent.filter(([name]) => !(name in fields))) as Omit<B, keyof F>)
    : Effect.fail(new InvalidInput({ what: "Failed to update record.", issues }))
}
