const millisecondsOf: ReadonlyMap<string, number> = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["µs", 1e-3],
  ["μs", 1e-3],
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
])

/** The longest duration that Go can hold, in milliseconds: 2^63 - 1 nanoseconds. */
const longest = 9_223_372_036_854.775

const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/uy

/**
 * Milliseconds of a duration in Go's notation (`4h`, `1h30m`, `1.5h`); `0` needs no unit. Undefined for any other text, for negative
 * durations and for those that Go could not hold.
 */
export const parseDuration = (text: string): number | undefined => {
  if (text === "0" || text === "+0") return 0
  if (text.length > 100) return undefined
  const rest = text.startsWith("+") ? text.slice(1) : text
  let total = 0
  let at = 0
  while (at < rest.length) {
    part.lastIndex = at
    const found = part.exec(rest)
    if (found === null) return undefined
    total += Number(found[1]) * (millisecondsOf.get(found[2] ?? "") ?? Number.NaN)
    at = part.lastIndex
  }
  return at === 0 || !(total <= longest) ? undefined : total
}
