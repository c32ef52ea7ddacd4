import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type DestroyScope,
  type Plan,
  planDestroy,
  type PlanIssue,
  planPower,
  type PowerChange,
  type Vmid,
} from "../src/index.ts"
import { anyConfig, templateNames } from "./plan-arbitrary.ts"
import { labConfig, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, keysOf, lab, ModelWorld, networksRemovedBy, planned, range, settings } from "./plan-model.ts"

const deployed = (): ModelWorld => {
  const world = labWorld()
  world.apply(planned(inputFor(world, labConfig())))
  return world
}
const destroy = (world: ModelWorld, scope: DestroyScope): Result.Result<Plan, readonly PlanIssue[]> =>
  planDestroy({ range, settings, world: world.view(), scope })
const power = (world: ModelWorld, change: PowerChange, vmids?: readonly Vmid[]): Result.Result<Plan, readonly PlanIssue[]> =>
  planPower({ range, world: world.view(), change, vmids })
const issuesOf = (result: Result.Result<Plan, readonly PlanIssue[]>): readonly string[] =>
  Result.isFailure(result) ? result.failure.map((i) => `${i.code}: ${i.message}`) : []
const vmidOf = (world: ModelWorld, name: string): Vmid => world.vmNamed(name).detail.vmid

describe("destroying", () => {
  test("a range leaves nothing of it, and nothing else is touched", () => {
    fc.assert(
      fc.property(anyConfig, fc.nat(40), fc.nat(1000), (config, crash, pick) => {
        const world = new ModelWorld({ templates: templateNames })
        world.add({ vmid: 901, name: "elsewhere", power: "running" })
        const before = [...world.vms.keys()]
        world.apply(planned(inputFor(world, config)), undefined, crash)
        world.apply(Result.getOrThrow(destroy(world, { kind: "range" })), () => pick)
        expect([...world.vms.keys()]).toEqual(before)
        expect([...world.pools]).toEqual([])
        expect([...world.networks]).toEqual([])
        expect(keysOf(Result.getOrThrow(destroy(world, { kind: "range" })))).toEqual([])
      }),
    )
  })

  test("machines stops those that run, deletes all, and keeps pool and network", () => {
    const world = deployed()
    world.vmNamed("LAB-kali").machine.power = "stopped"
    const plan = Result.getOrThrow(destroy(world, { kind: "machines" }))
    expect(keysOf(plan)).not.toContain("stop:LAB-kali")
    expect(plan.steps.find((s) => s.key === "delete:LAB-web")?.after).toEqual(["stop:LAB-web"])
    // clones on the same storage take none of them
    expect(plan.steps.find((s) => s.key === "delete:LAB-web")?.uses).toEqual([{ resource: "delete@vmstore", slots: 10 }])
    expect(plan.changes.every((c) => c.kind === "remove")).toBe(true)
    world.apply(plan)
    expect([...world.pools, ...world.networks.keys()]).toEqual(["LAB", "vmbr1007"])
  })

  test("one machine leaves the others", () => {
    const world = deployed()
    const plan = Result.getOrThrow(destroy(world, { kind: "machine", vmid: vmidOf(world, "LAB-web") }))
    expect(keysOf(plan)).toEqual(["stop:LAB-web", "delete:LAB-web"])
  })

  test("a machine that is not the range's is refused", () => {
    const world = deployed()
    world.add({ vmid: 901, name: "elsewhere" })
    expect(issuesOf(destroy(world, { kind: "machine", vmid: 901 as Vmid }))).toEqual([
      "not-ours: VM 901 is not a machine of range LAB",
    ])
    expect(issuesOf(destroy(world, { kind: "machine", vmid: 999 as Vmid }))).toEqual(["unknown-machine: VM 999 does not exist"])
  })

  test("a range is refused while its pool holds what is not ours; its machines alone can go", () => {
    const world = deployed()
    world.add({ vmid: 301, name: "helper", pool: lab })
    expect(issuesOf(destroy(world, { kind: "range" }))).toEqual([
      "not-ours: helper (VM 301) is in the pool LAB but is not ours: it does not carry our mark",
    ])
    const plan = Result.getOrThrow(destroy(world, { kind: "machines" }))
    expect(plan.notes).toEqual(["helper (VM 301) is in the range's pool and is never changed: it does not carry our mark"])
  })

  test("is refused while a machine's node is offline", () => {
    const world = deployed()
    const vmid = vmidOf(world, "LAB-web")
    world.nodes = world.nodes.map((n) => ({ ...n, online: false }))
    expect(issuesOf(destroy(world, { kind: "machine", vmid }))).toEqual([
      `node-offline: LAB-web (VM ${vmid}) is on the node pve1, which is offline`,
    ])
  })

  test("a range keeps a network that somebody else made", () => {
    const world = deployed()
    world.networks.set("vmbr1007", { name: "vmbr1007", node: "pve1", usable: true, ours: false })
    const plan = Result.getOrThrow(destroy(world, { kind: "range" }))
    expect(networksRemovedBy(plan)).toEqual([])
    expect(plan.notes).toEqual(["the network vmbr1007 is not ours, so it stays"])
  })
})

describe("power", () => {
  test("off stops those that run, all at once", () => {
    const world = deployed()
    world.vmNamed("LAB-web").machine.power = "stopped"
    const plan = Result.getOrThrow(power(world, "off"))
    expect(keysOf(plan).toSorted()).toEqual(
      [`stop:${routerName}`, "stop:LAB-dc", "stop:LAB-dc2", "stop:LAB-kali", "stop:LAB-ws"].toSorted(),
    )
    expect(plan.steps.every((s) => s.after.length === 0)).toBe(true)
    expect(plan.changes.find((c) => c.object === "LAB-web")).toEqual({ kind: "none", object: "LAB-web", reasons: [] })
    world.apply(plan)
    expect(keysOf(Result.getOrThrow(power(world, "off")))).toEqual([])
  })

  test("on starts those that are named and off", () => {
    const world = deployed()
    world.apply(Result.getOrThrow(power(world, "off")))
    const plan = Result.getOrThrow(power(world, "on", [vmidOf(world, "LAB-web"), vmidOf(world, "LAB-kali")]))
    expect(keysOf(plan)).toEqual(["start:LAB-web", "start:LAB-kali"])
    world.apply(plan)
    expect(keysOf(Result.getOrThrow(power(world, "on", [vmidOf(world, "LAB-web")])))).toEqual([])
  })

  test("on leaves alone what is paused", () => {
    const world = deployed()
    world.vmNamed("LAB-web").machine.power = "paused"
    expect(keysOf(Result.getOrThrow(power(world, "on")))).toEqual([])
  })

  test("shutdown asks guests that run, and stops what is paused", () => {
    const world = deployed()
    world.vmNamed("LAB-web").machine.power = "paused"
    const named = [vmidOf(world, "LAB-web"), vmidOf(world, "LAB-kali")]
    expect(keysOf(Result.getOrThrow(power(world, "shutdown", named)))).toEqual(["stop:LAB-web", "shutdown:LAB-kali"])
  })

  test("asks a guest that may be on to shut down: only what was read as off stays as it is", () => {
    const world = deployed()
    world.vmNamed("LAB-web").machine.power = "unknown"
    const named = [vmidOf(world, "LAB-web")]
    expect(keysOf(Result.getOrThrow(power(world, "shutdown", named)))).toEqual(["shutdown:LAB-web"])
    expect(keysOf(Result.getOrThrow(power(world, "on", named)))).toEqual(["start:LAB-web"])
  })

  test("is refused for machines that are not the range's, naming each", () => {
    const world = deployed()
    world.add({ vmid: 901, name: "elsewhere" })
    expect(issuesOf(power(world, "on", [901 as Vmid, 999 as Vmid]))).toEqual([
      "unknown-machine: VM 901 is not a machine of range LAB",
      "unknown-machine: VM 999 is not a machine of range LAB",
    ])
  })
})
