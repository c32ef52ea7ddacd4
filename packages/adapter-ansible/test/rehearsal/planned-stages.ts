import {
  type Action,
  type Grant,
  machineNames,
  type ObservedMachine,
  parseRangeConfig,
  planDeploy,
  type RangeId,
  type Vmid,
  wholeDeploy,
} from "@rangewright/domain"
import * as Result from "effect/Result"

/** A step of the plan that happens inside a machine. */
export type Stage = Extract<Action, { readonly kind: "guest" }>

const range = {
  id: "LAB" as RangeId,
  number: 7,
  testing: { mode: "off", allowedDomains: [], allowedIps: [] },
} as const

const node = { name: "node1", online: true, cpus: 64, cpuLoad: 0, memoryMiB: 262_144, memoryUsedMiB: 0 }
const disks = { name: "disks", node: "node1", type: "dir", shared: false, active: true, content: ["images"] }
const noGrants: readonly Grant[] = []

const template = (name: string, i: number): ObservedMachine => ({
  vmid: (100 + i) as Vmid,
  node: "node1",
  name,
  power: "stopped",
  template: true,
  pool: "SHARED",
  cpus: 2,
  memoryMiB: 4096,
  tags: [],
})

/** The stages that a first deploy of this configuration has, by their keys in the plan (`domain-join:LAB-ws`). */
export const plannedStages = (configText: string): ReadonlyMap<string, Stage> => {
  const { config } = Result.getOrThrowWith(parseRangeConfig(configText), (issues) => new Error(JSON.stringify(issues)))
  const templates = [...new Set([config.router.template, ...config.machines.map((machine) => machine.template)])]
  const names = machineNames(range.id, config)
  const plan = planDeploy({
    range,
    config,
    grants: noGrants,
    settings: {
      clusterMode: false,
      sdnZone: "labs",
      vxlanTagBase: 100,
      natNetwork: "vmbr1000",
      defaultNode: undefined,
      vmStorage: undefined,
      guestsLeftOut: false,
      protectedAddresses: [],
    },
    choice: wholeDeploy,
    world: {
      cluster: {
        at: new Date(0),
        nodes: [node],
        storages: [{ ...disks, totalBytes: 2 ** 42, usedBytes: 0 }],
        machines: templates.map(template),
      },
      details: new Map(),
      networks: [],
      poolExists: false,
      addresses: new Map(),
      stages: new Map(),
      reservations: new Map(names.map((name, i) => [name, (20_000 + i) as Vmid])),
    },
  })
  const { steps } = Result.getOrThrowWith(plan, (issues) => new Error(JSON.stringify(issues)))
  return new Map(steps.flatMap(({ key, action }) => (action.kind === "guest" ? [[key, action] as const] : [])))
}
