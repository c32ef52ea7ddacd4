import {
  type Action,
  macOf,
  type MachineRef,
  type NetworkSpec,
  type Plan,
  type RangeId,
  type ResourceUse,
  type Step,
  type Vmid,
  writeDescription,
} from "@rangewright/domain"

export const labTemplate = 9000
const network = (rangeId: RangeId): NetworkSpec => ({
  type: "bridge",
  name: "vmbr1007",
  node: "node1",
  comment: `range ${rangeId}`,
})

export const planOf = (rangeId: RangeId, steps: readonly Step[]): Plan => ({
  rangeId,
  steps,
  changes: [],
  placements: [],
  allocations: [],
  notes: [],
  criticalPathSeconds: 0,
})

export const stepOf = (
  key: string,
  action: Action,
  after: readonly string[],
  estimate: number,
  uses: readonly ResourceUse[] = [],
): Step => ({
  key,
  title: key,
  tag: undefined,
  machine: "machine" in action ? action.machine.mark.machine : undefined,
  action,
  after,
  uses,
  estimate,
})

const refOf = (rangeId: RangeId, machine: string, vmid: Vmid): MachineRef => ({
  vmid,
  node: "node1",
  mark: { range: rangeId, machine },
})

const machineSteps = (rangeId: RangeId, name: string, vmid: Vmid, at: number): readonly Step[] => {
  const machine = refOf(rangeId, name, vmid)
  const description = writeDescription(machine.mark, ["lab"])
  const address = `10.7.10.${at + 1}`
  const nics = [{ index: 0, model: "virtio", mac: macOf(vmid, 0), bridge: "vmbr1007", tag: 10, firewall: false }]
  const settings = { cpus: 2, memoryMiB: 2048, balloonMiB: undefined, nics, description, tags: ["rangewright"], tablet: false }
  const template = { vmid: labTemplate as Vmid, node: "node1", name: "debian" }
  const storage = undefined
  return [
    stepOf(
      `clone:${name}`,
      { kind: "clone", machine, name, template, pool: rangeId, full: false, storage, description },
      ["pool"],
      4,
      [{ resource: "clone@node1/local", slots: 4 }],
    ),
    stepOf(`configure:${name}`, { kind: "configure", machine, settings }, [`clone:${name}`, "network"], 1),
    stepOf(`start:${name}`, { kind: "start", machine, untilAgent: true }, [`configure:${name}`], 25, [
      { resource: "boot@node1", slots: 8 },
    ]),
    stepOf(`leased:${name}`, { kind: "await-address", machine, expect: undefined, within: "10.0.0.0/8" }, [`start:${name}`], 1),
    stepOf(
      `address:${name}`,
      { kind: "guest", machine, os: "linux", stage: "address", input: { address, mac: macOf(vmid, 0) } },
      [`leased:${name}`],
      10,
      [{ resource: "automation", slots: 20 }],
    ),
    stepOf(
      `role:${name}`,
      { kind: "guest", machine, os: "linux", stage: "role", input: { role: "web", name } },
      [`address:${name}`],
      10,
      [{ resource: "automation", slots: 20 }],
    ),
  ]
}

/** A whole range as a planner would plan it: pool, network, rights, and for each machine clone, settings, boot, address and a role. */
export const deployPlan = (rangeId: RangeId, vmids: ReadonlyMap<string, Vmid>): Plan =>
  planOf(rangeId, [
    stepOf("pool", { kind: "create-pool", poolId: rangeId }, [], 1),
    stepOf("network", { kind: "create-network", network: network(rangeId) }, [], 2),
    stepOf("access", { kind: "grant-access", rangeId, userIds: [], network: network(rangeId) }, ["pool", "network"], 1),
    ...[...vmids].flatMap(([name, vmid], at) => machineSteps(rangeId, name, vmid, at)),
  ])

/** Removes everything: machines, then network and pool. */
export const deletePlan = (rangeId: RangeId, vmids: ReadonlyMap<string, Vmid>): Plan => {
  const machines = [...vmids].map(([name, vmid]) => refOf(rangeId, name, vmid))
  const deleted = machines.map(({ mark }) => `delete:${mark.machine}`)
  return planOf(rangeId, [
    ...machines.flatMap((machine) => [
      stepOf(`stop:${machine.mark.machine}`, { kind: "stop", machine }, [], 2),
      stepOf(`delete:${machine.mark.machine}`, { kind: "delete", machine }, [`stop:${machine.mark.machine}`], 2),
    ]),
    stepOf("network", { kind: "remove-network", network: network(rangeId) }, deleted, 2),
    stepOf("pool", { kind: "remove-pool", poolId: rangeId }, deleted, 1),
  ])
}
