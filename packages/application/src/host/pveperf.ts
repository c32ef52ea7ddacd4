/**
 * The output of `pveperf`; texts that it did not print are `not measured`. Clients need numbers, so numbers that it did not print are 0,
 * and `missing` names them.
 */
export interface Pveperf {
  readonly cpu_bogomips: number
  readonly regex_per_second: number
  readonly hd_size: string
  readonly buffered_reads: string
  readonly average_seek_time: string
  readonly fsyncs_per_second: number
  readonly dns_ext: string
}

/** Reads `name: value` lines; the names are compared without regard to case. */
const lines = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split("\n").flatMap((line) => {
      const at = line.indexOf(":")
      return at < 0 ? [] : [[line.slice(0, at).trim().toUpperCase(), line.slice(at + 1).trim()] as const]
    }),
  )

const notMeasured = "not measured"

const number = (text: string | undefined): number | undefined => {
  const n = Number.parseFloat(text ?? "")
  return Number.isFinite(n) ? n : undefined
}

/** Parses the output of the program, and names the numbers that are missing from it. */
export const parsePveperf = (text: string): { readonly figures: Pveperf; readonly missing: readonly string[] } => {
  const at = lines(text)
  const numbers = {
    cpu_bogomips: number(at.get("CPU BOGOMIPS")),
    regex_per_second: number(at.get("REGEX/SECOND")),
    fsyncs_per_second: number(at.get("FSYNCS/SECOND")),
  }
  const figures = {
    cpu_bogomips: numbers.cpu_bogomips ?? 0,
    regex_per_second: Math.round(numbers.regex_per_second ?? 0),
    hd_size: at.get("HD SIZE") ?? notMeasured,
    buffered_reads: at.get("BUFFERED READS") ?? notMeasured,
    average_seek_time: at.get("AVERAGE SEEK TIME") ?? notMeasured,
    fsyncs_per_second: numbers.fsyncs_per_second ?? 0,
    dns_ext: at.get("DNS EXT") ?? notMeasured,
  }
  return { figures, missing: Object.entries(numbers).flatMap(([name, value]) => (value === undefined ? [name] : [])) }
}

/** Model and number of processors from `lscpu`; `cores` is undefined when it was not printed. */
export const parseLscpu = (text: string): { readonly model: string; readonly cores: number | undefined } => {
  const at = lines(text)
  return { model: at.get("MODEL NAME") ?? notMeasured, cores: number(at.get("CPU(S)")) }
}
