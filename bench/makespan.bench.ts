/**
 * How long deploys take with the real planner, engine and Proxmox adapter, on the simulator's virtual time, compared with the lower bound
 * of any schedule and with a serial one. The excess over the bound is the cost of a worse order and of polling: Proxmox does not notify
 * anybody when a task, a boot or a program has ended.
 */
import { lowerBound, type RoleSequence, roleSequences, simulateSerial } from "@rangewright/domain"
import { makespanCase, makespanSeeds } from "./makespan-generator.ts"
import { type MakespanRow, reportMakespan } from "./makespan-report.ts"
import { onSimulatedTime } from "./simulated-seconds.ts"
import { deployLab, makeVirtualLab } from "./virtual-time.ts"

/** Ranges measured with `--quick`. */
const few = 20

const measure = async (seed: number, sequence: RoleSequence): Promise<MakespanRow> => {
  const { text, machines, nodes } = makespanCase(seed)
  const lab = await makeVirtualLab({ config: text, nodes, seed })
  const { state, seconds } = await deployLab(lab, sequence)
  if (state.status !== "success" || state.plan === undefined) throw new Error(`seed ${seed}: ${state.status} ${state.message}`)
  const plan = onSimulatedTime(state.plan)
  return { seed, machines, nodes, bound: lowerBound(plan), ours: seconds, serial: simulateSerial(plan) }
}

if (import.meta.main) {
  const seeds = process.argv.includes("--quick") ? makespanSeeds.slice(0, few) : makespanSeeds
  for (const sequence of roleSequences) {
    const rows: MakespanRow[] = []
    for (const seed of seeds) rows.push(await measure(seed, sequence))
    reportMakespan(sequence, rows)
  }
}
