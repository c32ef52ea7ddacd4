import { describe, expect, test } from "vitest"
import { type Nic, planDestroy, readDescription, writeDescription } from "../src/index.ts"
import * as Result from "effect/Result"
import { labConfig, labWorld } from "./plan-lab.ts"
import { inputFor, keysOf, lab, type ModelWorld, networksRemovedBy, planned, range, refusal, settings } from "./plan-model.ts"

/** A lab that an older service made: its machines have marks of adopted ones, its bridge no comment, and cards their own MAC addresses. */
const adoptedLab = (): ModelWorld => {
  const world = labWorld()
  world.apply(planned(inputFor(world, labConfig())))
  for (const { detail, machine } of world.vms.values()) {
    const { mark, groups } = readDescription(detail.description)
    if (mark === undefined) continue
    detail.description = writeDescription({ range: lab, machine: mark.machine, adopted: true }, groups)
    detail.nics = detail.nics.map((nic): Nic => ({ ...nic, mac: `BC:24:11:00:${machine.vmid % 90}:0${nic.index}` }))
  }
  const [network] = [...world.networks.values()]
  if (network !== undefined) world.networks.set(network.name, { ...network, ours: false })
  world.reservations.clear()
  return world
}

const takenOver = { range: { ...range, takenOver: true } }

describe("a range whose machines were taken over from an older service", () => {
  test("matches the configuration: nothing is created again, and no card gets another MAC address", () => {
    const plan = planned(inputFor(adoptedLab(), labConfig(), {}, takenOver))
    expect(keysOf(plan)).toEqual([])
    expect(plan.notes).toContain(
      "the network vmbr1007 belongs to an older service: it is used as it is, and stays when the range is deleted",
    )
  })

  test("keeps mark and MAC addresses when a machine is configured again", () => {
    const world = adoptedLab()
    const before = world.vmNamed("LAB-web").detail.nics
    world.apply(planned(inputFor(world, labConfig({ web: { cpus: 7 } }), {}, takenOver)))
    const { detail } = world.vmNamed("LAB-web")
    expect(detail.cpus).toBe(7)
    expect(detail.nics).toEqual(before)
    expect(readDescription(detail.description).mark).toEqual({ range: lab, machine: "LAB-web", adopted: true })
    expect(keysOf(planned(inputFor(world, labConfig({ web: { cpus: 7 } }), {}, takenOver)))).toEqual([])
  })

  test("keeps its network when it is deleted", () => {
    const world = adoptedLab()
    for (const clusterMode of [false, true]) {
      const mode = { ...settings, clusterMode }
      const plan = Result.getOrThrow(planDestroy({ range, settings: mode, world: world.view(), scope: { kind: "range" } }))
      expect(keysOf(plan)).toContain("delete:LAB-web")
      expect(networksRemovedBy(plan)).toEqual([])
      expect(plan.notes).toContain("the network vmbr1007 is not ours, so it stays")
    }
  })

  test("is created again on its old network when its machines are gone", () => {
    const world = adoptedLab()
    for (const { machine } of world.vms.values()) if (machine.pool === lab) world.vms.delete(machine.vmid)
    const plan = planned(inputFor(world, labConfig(), {}, takenOver))
    expect(keysOf(plan)).toContain("clone:LAB-web")
    expect(keysOf(plan)).not.toContain("network")
    world.apply(plan)
    expect(keysOf(planned(inputFor(world, labConfig(), {}, takenOver)))).toEqual([])
  })

  test("for which the older service made no network gets one of ours", () => {
    const world = adoptedLab()
    world.networks.clear()
    expect(keysOf(planned(inputFor(world, labConfig(), {}, takenOver)))).toContain("network")
  })

  test("does not take a VNet over: older services made none", () => {
    const world = adoptedLab()
    world.networks.set("r7", { name: "r7", node: undefined, usable: true, ours: false })
    const input = inputFor(world, labConfig(), {}, { ...takenOver, settings: { ...settings, clusterMode: true } })
    expect(refusal(input).map(({ code }) => code)).toContain("network-not-ours")
  })

  test("differs from a range that we made: there a foreign network is refused, and foreign cards are corrected", () => {
    expect(refusal(inputFor(adoptedLab(), labConfig())).map(({ code }) => code)).toEqual(["network-not-ours"])
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    const { detail } = world.vmNamed("LAB-web")
    detail.nics = detail.nics.map((nic): Nic => ({ ...nic, mac: "BC:24:11:00:00:01" }))
    expect(keysOf(planned(inputFor(world, labConfig())))).toContain("configure:LAB-web")
  })
})
