import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const address = Schema.String.check(Schema.isPattern(/^(?:\d{1,3}\.){3}\d{1,3}$/u))
const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Packets to one destination that testing mode did not let out. `source` is what they claimed. `protocol` is the number in the IPv4 header. */
export const RefusedDestination = Schema.Struct({
  source: address,
  destination: address,
  protocol: count.check(Schema.isLessThanOrEqualTo(255)),
  /** Absent for protocols without ports. */
  port: Schema.optionalKey(count.check(Schema.isLessThanOrEqualTo(65_535))),
  packets: count,
})

/** A name that a machine asked its router for, and that testing mode did not let it ask further. */
export const RefusedName = Schema.Struct({ source: address, name: Schema.String.check(Schema.isMaxLength(1024)), queries: count })

/** `changed`: a router has other rules than those that were loaded. */
const rules = Schema.Literals(["as-loaded", "changed"])

/** What a look at a range's router showed. The router may be in the hands of somebody hostile: no more than it says of itself. */
export const RouterInspection = Schema.Struct({
  rules,
  /** All packets that were refused since testing began. */
  packets: count,
  /** False: destinations are missing from `refused`, or names from `refusedNames`. */
  isComplete: Schema.Boolean,
  /** Most packets first. */
  refused: Schema.Array(RefusedDestination),
  /** Those that were asked for most first; absent in what older versions kept. */
  refusedNames: Schema.optionalKey(Schema.Array(RefusedName)),
  /** The last look after testing mode, which counts nothing: the time of it in milliseconds. */
  since: Schema.optionalKey(Schema.Struct({ rules, at: Schema.Int })),
})
export interface RouterInspection extends Schema.Schema.Type<typeof RouterInspection> {}

/** What a look says of a router whose range nobody tests: its rules; what was counted while testing stays. `at` is in milliseconds. */
export const seenOpen = <I extends RouterInspection>(before: I, { rules: seen }: RouterInspection, at: number): I => ({
  ...before,
  since: { rules: seen, at },
})

/** Destinations, and names, that are kept of one look. */
const keptAtMost = 1000

const decodeDestination = Schema.decodeUnknownOption(Schema.fromJsonString(RefusedDestination))
const decodeName = Schema.decodeUnknownOption(Schema.fromJsonString(RefusedName))
const decodeTotal = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ packets: count, full: Schema.Boolean })))

/**
 * Reads what the stage `inspect-router` prints: `check <exit code>`, a line of JSON for each destination and each name, and one of totals.
 * Undefined where it does not say whether the rules are there. Lines that are nothing of these are left out, and make it incomplete.
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
