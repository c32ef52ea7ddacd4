/** What `pveperf` measured; zero and empty where it printed nothing. */
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
    text
      .split("\n")
      .map((line) => /^\s*([^:]{1,60}):\s*(.*?)\s*$/u.exec(line))
      .filter((m) => m !== null)
      .map((m) => [(m[1] ?? "").trim().toUpperCase(), m[2] ?? ""] as const),
  )

const number = (text: string | undefined): number => {
  const n = Number.parseFloat(text ?? "")
  return Number.isFinite(n) ? n : 0
}

export const parsePveperf = (text: string): Pveperf => {
  const at = lines(text)
  return {
    cpu_bogomips: number(at.get("CPU BOGOMIPS")),
    regex_per_second: Math.round(number(at.get("REGEX/SECOND"))),
    hd_size: at.get("HD SIZE") ?? "",
    buffered_reads: at.get("BUFFERED READS") ?? "",
    average_seek_time: at.get("AVERAGE SEEK TIME") ?? "",
    fsyncs_per_second: number(at.get("FSYNCS/SECOND")),
    dns_ext: at.get("DNS EXT") ?? "",
  }
}

/** Model and number of processors from `lscpu`. */
export const parseLscpu = (text: string): { readonly model: string; readonly cores: number } => {
  const at = lines(text)
  return { model: at.get("MODEL NAME") ?? "", cores: Math.round(number(at.get("CPU(S)"))) }
}
