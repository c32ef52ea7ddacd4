import { describe, expect, test } from "vitest"
import { type Nic, planDestroy, readDescription, writeDescription } from "../src/index.ts"
import * as Result from "effect/Result"
import { labConfig, labWorld } from "./plan-lab.ts"
import { inputFor, keysOf, lab, type ModelWorld, planned, range, refusal, settings } from "./plan-model.ts"

/** A lab that an older service made: its machines carry marks of adopted ones, its bridge no comment, and cards have addresses of theirs. */
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

describe("a range whose machines were taken over from an older service", () => {
  test("is what the configuration says: nothing is made anew, and no card gets another address", () => {
    const plan = planned(inputFor(adoptedLab(), labConfig()))
    expect(keysOf(plan)).toEqual([])
    expect(plan.notes).toContain("the network vmbr1007 is an older service's: it is used as it is, and stays when the range goes")
  })

  test("keeps mark and addresses when a machine is configured anew", () => {
    const world = adoptedLab()
    const before = world.vmNamed("LAB-web").detail.nics
    world.apply(planned(inputFor(world, labConfig({ web: { cpus: 7 } }))))
    const { detail } = world.vmNamed("LAB-web")
    expect(detail.cpus).toBe(7)
    expect(detail.nics).toEqual(before)
    expect(readDescription(detail.description).mark).toEqual({ range: lab, machine: "LAB-web", adopted: true })
    expect(keysOf(planned(inputFor(world, labConfig({ web: { cpus: 7 } }))))).toEqual([])
  })

  test("keeps its network when it goes", () => {
    const world = adoptedLab()
    const plan = Result.getOrThrow(planDestroy({ range, settings, world: world.view(), scope: { kind: "range" } }))
    expect(keysOf(plan)).toContain("delete:LAB-web")
    expect(keysOf(plan)).not.toContain("remove-network")
  })

  test("is refused where no machine that was taken over hangs on the network that is not ours", () => {
    const world = adoptedLab()
    for (const { detail } of world.vms.values()) detail.nics = detail.nics.map((nic) => ({ ...nic, bridge: "vmbr9" }))
    expect(refusal(inputFor(world, labConfig())).map(({ code }) => code)).toEqual(["network-not-ours"])
  })

  test("whose cards we made has no other: only what was taken over keeps foreign addresses", () => {
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    const { detail } = world.vmNamed("LAB-web")
    detail.nics = detail.nics.map((nic): Nic => ({ ...nic, mac: "BC:24:11:00:00:01" }))
    expect(keysOf(planned(inputFor(world, labConfig())))).toContain("configure:LAB-web")
  })
})
