/** How long one configuration file takes, hostile ones included: each must take less than 50 ms. */
import { checkRangeConfig, parseRangeConfig } from "../packages/domain/src/range/config/index.ts"
import * as Result from "effect/Result"
import { hostileFiles, machines } from "../packages/domain/test/range-config-hostile.ts"

const repetitions = 9
const limit = 50

export interface ConfigTiming {
  readonly file: string
  readonly kilobytes: number
  /** Milliseconds: the first time in this process, and the median of the following ones. */
  readonly first: number
  readonly median: number
  readonly outcome: string
}

const once = (text: string): { readonly took: number; readonly outcome: string } => {
  const start = performance.now()
  const parsed = parseRangeConfig(text)
  const issues = Result.isFailure(parsed) ? parsed.failure : checkRangeConfig(parsed.success, { rangeId: "LAB", rangeNumber: 7 })
  const took = performance.now() - start
  return { took, outcome: Result.isFailure(parsed) ? (issues[0]?.code ?? "refused") : `accepted, ${issues.length} issues` }
}

export const timeConfigs = (): ReadonlyArray<ConfigTiming> =>
  [["60 machines", "accepted", machines(60)] as const, ...hostileFiles].map(([file, , text]) => {
    const { took: first, outcome } = once(text)
    const times = Array.from({ length: repetitions }, () => once(text).took).toSorted((a, b) => a - b)
    return { file, kilobytes: text.length / 1024, first, median: times[repetitions >> 1] ?? first, outcome }
  })

if (import.meta.main) {
  const timings = timeConfigs()
  const row = (file: string, ...cells: ReadonlyArray<string>): string =>
    `${file.padEnd(40)}${cells.map((cell) => cell.padStart(10)).join("")}`
  console.log(row("file", "KiB", "first ms", "median ms"), " outcome")
  for (const { file, kilobytes, first, median, outcome } of timings)
    console.log(row(file, kilobytes.toFixed(1), first.toFixed(1), median.toFixed(1)), "", outcome)
  const slow = timings.filter(({ median }) => median >= limit)
  console.log(
    slow.length === 0 ? `all below ${limit} ms` : `MISSED, not below ${limit} ms: ${slow.map(({ file }) => file).join(", ")}`,
  )
}
