/**
 * How simultaneous deploys share a cluster, with the real planner, engine and Proxmox adapter, on the simulator's virtual time: whether
 * equal ranges end together, whether a large range delays a small one or one owner another, and what this costs all of them together.
 */
import { lowerBound, type UserId } from "@rangewright/domain"
import { makespanTemplates } from "./makespan-generator.ts"
import { onSimulatedTime } from "./simulated-seconds.ts"
import { deployTogether, makeVirtualLab, type SharedDeploy, type VirtualDeploy } from "./virtual-time.ts"

/** Goals: the last end divided by the first end of the ranges that had to wait, and the time next to others divided by the time alone. */
const goals = { spread: 1.3, beside: 1.5 } as const

/** The configuration of a range with this many Linux machines, and its router. */
export const linuxRange = (machines: number): string =>
  JSON.stringify({
    ludus: Array.from({ length: machines }, (_, i) => ({
      vm_name: `{{ range_id }}-m${i + 1}`,
      hostname: `m${i + 1}`,
      vlan: 10,
      ip_last_octet: i + 1,
      ram_gb: 2,
      cpus: 2,
      template: makespanTemplates.linux[0],
      linux: true,
    })),
  })

/** Starts all deploys at the same moment on an empty cluster; returns the seconds to the end of each. */
export const secondsTogether = async (deploys: readonly SharedDeploy[], nodes = 1): Promise<readonly number[]> =>
  (await together(deploys, nodes)).map(({ seconds }) => seconds)

const together = async (deploys: readonly SharedDeploy[], nodes: number): Promise<readonly VirtualDeploy[]> => {
  const ends = await deployTogether(await makeVirtualLab({ config: linuxRange(1), nodes }), deploys)
  for (const { state } of ends)
    if (state.status !== "success") throw new Error(`a deploy ended as ${state.status}: ${state.message}`)
  return ends
}

const equal = (count: number, machines: number, by: (i: number) => string): readonly SharedDeploy[] =>
  Array.from({ length: count }, (_, i) => ({ config: linuxRange(machines), by: by(i) as UserId }))

/** The lower bound of any schedule of all these plans together. */
const boundOf = (ends: readonly VirtualDeploy[]): number =>
  lowerBound({
    steps: ends.flatMap(({ state }, i) => {
      const own = (keys: readonly string[]): readonly string[] => keys.map((key) => `${i} ${key}`)
      return onSimulatedTime({ steps: state.plan?.steps ?? [] }).steps.map(({ key, after, behind = [], ...rest }) => ({
        ...rest,
        key: `${i} ${key}`,
        after: own(after),
        behind: own(behind),
      }))
    }),
  })

const verdict = (value: number, goal: number): string =>
  `${value.toFixed(2)} (goal <= ${goal}: ${value <= goal ? "reached" : "MISSED"})`

const reportEqual = async (title: string, deploys: readonly SharedDeploy[], nodes: number): Promise<void> => {
  const ends = await together(deploys, nodes)
  // the range that is planned first finds the cluster idle
  const [alone = Number.NaN, ...seconds] = ends.map((end) => end.seconds)
  const [first, last] = [Math.min(...seconds), Math.max(...seconds, alone)]
  console.log(
    `${title}: one ends after ${alone.toFixed(0)} s, the others from ${first.toFixed(0)} s to ${last.toFixed(0)} s, last over first ${verdict(last / first, goals.spread)}, ` +
      `all of them over their lower bound ${(last / boundOf(ends)).toFixed(2)}`,
  )
}

/** The time of the last deploy next to the others, divided by its time alone. */
const reportBeside = async (title: string, deploys: readonly SharedDeploy[]): Promise<void> => {
  const [alone = Number.NaN] = await secondsTogether(deploys.slice(-1))
  const beside = (await secondsTogether(deploys)).at(-1) ?? Number.NaN
  console.log(`${title}: ${beside.toFixed(0)} s, ${alone.toFixed(0)} s alone, ${verdict(beside / alone, goals.beside)}`)
}

if (import.meta.main) {
  const many = process.argv.includes("--quick") ? 12 : 40
  for (const nodes of [1, 3]) {
    const where = nodes === 1 ? "one node" : `${nodes} nodes`
    await reportEqual(
      `${many} ranges of 3 VMs of one owner on ${where}`,
      equal(many, 3, () => "ADA"),
      nodes,
    )
    await reportEqual(
      `${many} ranges of 3 VMs of as many owners on ${where}`,
      equal(many, 3, (i) => `U${i}`),
      nodes,
    )
  }
  const small = { config: linuxRange(3) }
  await reportBeside("a range of 3 VMs beside one of 60 of the same owner", [{ config: linuxRange(60) }, small])
  await reportBeside(`a range of 3 VMs beside ${many} of another owner`, [
    ...equal(many, 3, () => "ADA"),
    { ...small, by: "BOB" as UserId },
  ])
}
