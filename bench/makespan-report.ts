/** The table and verdicts that all makespan benchmarks print. */

import type { RoleSequence } from "@rangewright/domain"

/** Goals: makespan divided by the lower bound, and a serial schedule divided by ours. */
const goals = { p50: 1.05, p95: 1.1, serialAt30: 4 } as const

export interface MakespanRow {
  readonly seed: number
  readonly machines: number
  readonly nodes: number
  /** Seconds. */
  readonly bound: number
  readonly ours: number
  readonly serial: number
}

const sizes = [
  [3, 10],
  [11, 20],
  [21, 30],
  [31, 45],
  [46, 60],
] as const

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(q * values.length) - 1)] ?? Number.NaN

const verdict = (reached: boolean): string => (reached ? "reached" : "MISSED")

const line = (...cells: readonly (string | number)[]): string => cells.map((cell) => String(cell).padStart(12)).join("")

const sizeLine = (rows: readonly MakespanRow[], from: number, to: number): string => {
  const some = rows.filter((row) => row.machines >= from && row.machines <= to)
  const middle = (of: (row: MakespanRow) => number): number =>
    quantile(
      some.map((row) => of(row)),
      0.5,
    )
  return line(
    `${from}-${to}`,
    some.length,
    middle((row) => row.bound).toFixed(0),
    middle((row) => row.ours).toFixed(0),
    middle((row) => row.ours / row.bound).toFixed(3),
    middle((row) => row.serial).toFixed(0),
    middle((row) => row.serial / row.ours).toFixed(1),
  )
}

/** Prints medians by size of range, then the ratios with goals, for deploys with roles in this order and the bound of that order. */
export const reportMakespan = (sequence: RoleSequence, rows: readonly MakespanRow[]): void => {
  console.log(sequence === "file" ? "roles one after another, in the order of the file" : "roles by their dependencies alone")
  console.log(line("machines", "ranges", "bound s", "ours s", "ours/bound", "serial s", "serial/ours"))
  for (const [from, to] of sizes) console.log(sizeLine(rows, from, to))
  const ratios = rows.map((row) => row.ours / row.bound)
  const [p50, p95, worst] = [quantile(ratios, 0.5), quantile(ratios, 0.95), Math.max(...ratios)]
  const worstSeed = rows.find((row) => row.ours / row.bound === worst)?.seed
  console.log(
    `makespan over lower bound, ${rows.length} ranges: p50 ${p50.toFixed(3)}, p95 ${p95.toFixed(3)}, worst ${worst.toFixed(3)} (seed ${worstSeed})`,
  )
  console.log(`goal p50 <= ${goals.p50}: ${verdict(p50 <= goals.p50)}; goal p95 <= ${goals.p95}: ${verdict(p95 <= goals.p95)}`)
  const near30 = rows.filter((row) => row.machines >= 28 && row.machines <= 32).map((row) => row.serial / row.ours)
  if (near30.length === 0) return
  const half = quantile(near30, 0.5)
  // with roles one after another, these are most of both schedules
  const goal = sequence === "file" ? "" : `; goal p50 >= ${goals.serialAt30}: ${verdict(half >= goals.serialAt30)}`
  console.log(
    `serial over ours, ${near30.length} ranges of 28 to 32 machines: p50 ${half.toFixed(1)}, least ${Math.min(...near30).toFixed(1)}${goal}`,
  )
}
