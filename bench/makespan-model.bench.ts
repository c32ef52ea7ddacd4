/** How long deploys take by the timing model, against what no schedule can beat and against a serial schedule. */
import * as Result from "effect/Result"
import { lowerBound, parseRangeConfig, type Plan, simulateSchedule, simulateSerial } from "../packages/domain/src/index.ts"
import { inputFor, ModelWorld, planned, settings } from "../packages/domain/test/plan-model.ts"
import { makespanCase, makespanSeeds, makespanTemplates } from "./makespan-generator.ts"

/** What is to be reached: makespan over the lower bound. */
const goals = { p50: 1.05, p95: 1.2, serialAt30: 4 } as const

export interface MakespanRow {
  readonly seed: number
  readonly machines: number
  readonly nodes: number
  readonly steps: number
  /** Seconds. */
  readonly bound: number
  readonly ours: number
  readonly serial: number
}

/** The plan of a case's first deploy on an empty cluster. */
export const planOfCase = (seed: number): { readonly plan: Plan; readonly machines: number; readonly nodes: number } => {
  const { text, nodes, machines } = makespanCase(seed)
  const parsed = parseRangeConfig(text)
  if (Result.isFailure(parsed)) throw new Error(`seed ${seed}: ${JSON.stringify(parsed.failure)}`)
  const { router, server, workstation, linux } = makespanTemplates
  const names = Array.from({ length: nodes }, (_, i) => `pve${i + 1}`)
  const world = new ModelWorld({ nodes: names, templates: [router, server, workstation, ...linux] })
  const plan = planned(inputFor(world, parsed.success.config, {}, { settings: { ...settings, clusterMode: nodes > 1 } }))
  return { plan, machines, nodes }
}

export const measureMakespan = (seeds: readonly number[]): readonly MakespanRow[] =>
  seeds.map((seed) => {
    const { plan, machines, nodes } = planOfCase(seed)
    return {
      seed,
      machines,
      nodes,
      steps: plan.steps.length,
      bound: lowerBound(plan),
      ours: simulateSchedule(plan).makespan,
      serial: simulateSerial(plan),
    }
  })

const quantile = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(q * values.length) - 1)] ?? Number.NaN

if (import.meta.main) {
  const rows = measureMakespan(makespanSeeds)
  const ratios = rows.map((r) => r.ours / r.bound)
  const line = (...cells: readonly (string | number)[]): string => cells.map((c) => String(c).padStart(12)).join("")
  console.log(line("machines", "ranges", "bound s", "ours s", "ours/bound", "serial s", "serial/ours"))
  for (const [from, to] of [
    [3, 10],
    [11, 20],
    [21, 30],
    [31, 45],
    [46, 60],
  ] as const) {
    const some = rows.filter((r) => r.machines >= from && r.machines <= to)
    const mid = (f: (r: MakespanRow) => number): number => quantile(some.map(f), 0.5)
    console.log(
      line(
        `${from}-${to}`,
        some.length,
        mid((r) => r.bound).toFixed(0),
        mid((r) => r.ours).toFixed(0),
        mid((r) => r.ours / r.bound).toFixed(3),
        mid((r) => r.serial).toFixed(0),
        mid((r) => r.serial / r.ours).toFixed(1),
      ),
    )
  }
  const [p50, p95, worst] = [quantile(ratios, 0.5), quantile(ratios, 0.95), Math.max(...ratios)]
  const near30 = rows.filter((r) => r.machines >= 28 && r.machines <= 32).map((r) => r.serial / r.ours)
  const verdict = (ok: boolean): string => (ok ? "reached" : "MISSED")
  console.log(
    `makespan over lower bound, ${rows.length} ranges: p50 ${p50.toFixed(3)}, p95 ${p95.toFixed(3)}, worst ${worst.toFixed(3)}`,
  )
  console.log(`goal p50 <= ${goals.p50}: ${verdict(p50 <= goals.p50)}; goal p95 <= ${goals.p95}: ${verdict(p95 <= goals.p95)}`)
  const half = quantile(near30, 0.5)
  console.log(
    `serial over ours, ${near30.length} ranges of 28 to 32 machines: p50 ${half.toFixed(1)}, least ${Math.min(...near30).toFixed(1)}; goal p50 >= ${goals.serialAt30}: ${verdict(half >= goals.serialAt30)}`,
  )
}
