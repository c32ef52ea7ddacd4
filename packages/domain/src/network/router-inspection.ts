import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const address = Schema.String.check(Schema.isPattern(/^(?:\d{1,3}\.){3}\d{1,3}$/u))
const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Packets to one destination that testing mode blocked. `source` is the claimed address, `protocol` the number in the IPv4 header. */
export const RefusedDestination = Schema.Struct({
  source: address,
  destination: address,
  protocol: count.check(Schema.isLessThanOrEqualTo(255)),
  /** Absent for protocols without ports. */
  port: Schema.optionalKey(count.check(Schema.isLessThanOrEqualTo(65_535))),
  packets: count,
})

/** A name that a machine queried from its router and that testing mode did not resolve. */
export const RefusedName = Schema.Struct({ source: address, name: Schema.String.check(Schema.isMaxLength(1024)), queries: count })

/** `changed`: the router's rules differ from those that were loaded. */
const rules = Schema.Literals(["as-loaded", "changed"])

/** The result of inspecting a range's router. It is only what the router reports: the router may be compromised. */
export const RouterInspection = Schema.Struct({
  rules,
  /** All packets refused since testing began. */
  packets: count,
  /** False if destinations are missing in `refused`, or names in `refusedNames`. */
  isComplete: Schema.Boolean,
  /** Most packets first. */
  refused: Schema.Array(RefusedDestination),
  /** Most queries first; absent in records of older versions. */
  refusedNames: Schema.optionalKey(Schema.Array(RefusedName)),
  /** The last inspection after testing mode, without counters: `at` is its time in milliseconds. */
  since: Schema.optionalKey(Schema.Struct({ rules, at: Schema.Int })),
})
export interface RouterInspection extends Schema.Schema.Type<typeof RouterInspection> {}

/** Records an inspection outside testing mode: only its rules; the counters from testing stay. `at` is in milliseconds. */
export const seenOpen = <I extends RouterInspection>(before: I, { rules: seen }: RouterInspection, at: number): I => ({
  ...before,
  since: { rules: seen, at },
})

/** Maximum number of destinations, and of names, stored per inspection. */
const keptAtMost = 1000

const decodeDestination = Schema.decodeUnknownOption(Schema.fromJsonString(RefusedDestination))
const decodeName = Schema.decodeUnknownOption(Schema.fromJsonString(RefusedName))
const decodeTotal = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ packets: count, full: Schema.Boolean })))

/**
 * Parses the output of the stage `inspect-router`: `check <exit code>`, one line of JSON per destination and name, and one with totals.
 * Undefined if it does not say whether the rules are in place. Any other lines are ignored and make the result incomplete.
 */
export const readRouterReport = (text: string): RouterInspection | undefined => {
  const [first = "", ...lines] = text.split("\n").map((line) => line.trim())
  const code = /^check (?<code>\d{1,3})$/u.exec(first)?.groups?.["code"]
  if (code === undefined) return undefined
  const said = lines.filter((line) => line !== "")
  const read = <A>(decode: (line: string) => Option.Option<A>): readonly A[] =>
    said.flatMap((line) => Option.toArray(decode(line)))
  const found = read(decodeDestination)
  const names = read(decodeName)
  const [total] = read(decodeTotal)
  return {
    rules: code === "0" ? "as-loaded" : "changed",
    packets: total?.packets ?? found.reduce((sum, { packets }) => sum + packets, 0),
    isComplete:
      total?.full === false &&
      found.length + names.length + 1 === said.length &&
      Math.max(found.length, names.length) <= keptAtMost,
    refused: found.toSorted((a, b) => b.packets - a.packets).slice(0, keptAtMost),
    refusedNames: names.toSorted((a, b) => b.queries - a.queries).slice(0, keptAtMost),
  }
}
