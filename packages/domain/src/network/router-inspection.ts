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

/** What a look at a range's router showed. The router may be in the hands of somebody hostile: no more than it says of itself. */
export const RouterInspection = Schema.Struct({
  /** `changed`: the router has other rules than those that were loaded. */
  rules: Schema.Literals(["as-loaded", "changed"]),
  /** All packets that were refused since testing began. */
  packets: count,
  /** False: destinations are missing from `refused`. */
  isComplete: Schema.Boolean,
  /** Most packets first. */
  refused: Schema.Array(RefusedDestination),
})
export interface RouterInspection extends Schema.Schema.Type<typeof RouterInspection> {}

/** Destinations that are kept of one look. */
const keptAtMost = 1000

const decodeDestination = Schema.decodeUnknownOption(Schema.fromJsonString(RefusedDestination))
const decodeTotal = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ packets: count, full: Schema.Boolean })))

/**
 * Reads what the stage `inspect-router` prints: `check <exit code>`, a line of JSON for each destination, and one of totals. Undefined where
 * it does not say whether the rules are there. Lines that are nothing of these are left out, and make it incomplete.
 */
export const readRouterReport = (text: string): RouterInspection | undefined => {
  const [first = "", ...lines] = text.split("\n").map((line) => line.trim())
  const code = /^check (?<code>\d{1,3})$/u.exec(first)?.groups?.["code"]
  if (code === undefined) return undefined
  const said = lines.filter((line) => line !== "")
  const totals = said.flatMap((line) => {
    const total = decodeTotal(line)
    return total._tag === "Some" ? [total.value] : []
  })
  const found = said.flatMap((line) => {
    const destination = decodeDestination(line)
    return destination._tag === "Some" ? [destination.value] : []
  })
  const [total] = totals
  return {
    rules: code === "0" ? "as-loaded" : "changed",
    packets: total?.packets ?? found.reduce((sum, { packets }) => sum + packets, 0),
    isComplete: total?.full === false && found.length + 1 === said.length && found.length <= keptAtMost,
    refused: found.toSorted((a, b) => b.packets - a.packets).slice(0, keptAtMost),
  }
}
