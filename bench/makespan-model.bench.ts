/** How long deploys take by the timing model alone, compared with the lower bound of any schedule and with a serial schedule. */
import * as Result from "effect/Result"
import {
  lowerBound,
  parseRangeConfig,
  type Plan,
  type RoleSequence,
  roleSequences,
  simulateSchedule,
  simulateSerial,
} from "../packages/domain/src/index.ts"
import { inputFor, ModelWorld, planned, settings } from "../packages/domain/test/plan-model.ts"
import { makespanCase, makespanSeeds, makespanTemplates } from "./makespan-generator.ts"
import { type MakespanRow, reportMakespan } from "./makespan-report.ts"

/** The plan of a case's first deploy on an empty cluster. */
const planOfCase = (
  seed: number,
  roleSequence: RoleSequence,
): { readonly plan: Plan; readonly machines: number; readonly nodes: number } => {
  const { text, nodes, machines } = makespanCase(seed)
  const parsed = parseRangeConfig(text)
  if (Result.isFailure(parsed)) throw new Error(`seed ${seed}: ${JSON.stringify(parsed.failure)}`)
  const { router, server, workstation, linux } = makespanTemplates
  const names = Array.from({ length: nodes }, (_, i) => `pve${i + 1}`)
  const world = new ModelWorld({ nodes: names, templates: [router, server, workstation, ...linux] })
  const plan = planned(
    inputFor(world, parsed.success.config, { roleSequence }, { settings: { ...settings, clusterMode: nodes > 1 } }),
  )
  return { plan, machines, nodes }
}

const measure = (seed: number, sequence: RoleSequence): MakespanRow => {
  const { plan, machines, nodes } = planOfCase(seed, sequence)
  return {
    seed,
    machines,
    nodes,
    bound: lowerBound(plan),
    ours: simulateSchedule(plan).makespan,
    serial: simulateSerial(plan),
  }
}

if (import.meta.main)
  for (const sequence of roleSequences)
    reportMakespan(
      sequence,
      makespanSeeds.map((seed) => measure(seed, sequence)),
    )
