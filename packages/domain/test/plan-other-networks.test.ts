import * as Result from "effect/Result"
import { describe, expect, test } from "vitest"
import { type Nic, planDestroy, type PlanSettings, planPower, readDescription, writeDescription } from "../src/index.ts"
import { labConfig, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, keysOf, lab, type ModelWorld, networksRemovedBy, planned, range, refusal, settings } from "./plan-model.ts"

const onBridges: PlanSettings = settings
const onVnets: PlanSettings = { ...settings, clusterMode: true, natNetwork: "ludusnat" }
const bridged = { settings: onBridges }
const cluster = { settings: onVnets }

/** The lab as a deploy in this mode leaves it. */
const deployed = (mode: { readonly settings: PlanSettings }): ModelWorld => {
  const world = labWorld()
  world.networks.set("ludusnat", { name: "ludusnat", node: undefined, usable: true, ours: true })
  world.apply(planned(inputFor(world, labConfig(), {}, mode)))
  return world
}

const rehang = (world: ModelWorld, name: string, from: string, to: string): void => {
  const { detail } = world.vmNamed(name)
  detail.nics = detail.nics.map((nic): Nic => (nic.bridge === from ? { ...nic, bridge: to } : nic))
}

describe("a range whose machines are on the networks of the other mode", () => {
  test("is not deployed on VNets while it hangs on bridges: a migration moves cards, and a deploy does not", () => {
    const [issue, ...more] = refusal(inputFor(deployed(bridged), labConfig(), {}, cluster))
    expect(more).toEqual([])
    expect(issue).toMatchObject({
      code: "networks-not-moved",
      message: expect.stringMatching(
        /^machines of the range are attached to bridges, but ranges now use VNets: .*LAB-router-debian11-x64 \(VM \d+\) on vmbr1000, vmbr1007;.* and 1 more$/u,
      ),
      hint: expect.stringContaining("POST /migrate/sdn, or `npm start -- migrate sdn`"),
    })
  })

  test("is not deployed on bridges while it hangs on VNets, and the way back is named", () => {
    const [issue] = refusal(inputFor(deployed(cluster), labConfig(), {}, bridged))
    expect(issue).toMatchObject({
      code: "networks-not-moved",
      message: expect.stringContaining("are attached to VNets, but ranges now use bridges"),
      hint: expect.stringContaining("POST /migrate/sdn/rollback with cluster_mode: true"),
    })
  })

  test("is not split in two by a limit or by tags", () => {
    const world = deployed(bridged)
    for (const choice of [{ limit: "LAB-web" }, { tags: ["vm-deploy"] as const }, { tags: ["network"] as const }])
      expect(refusal(inputFor(world, labConfig(), choice, cluster)).map(({ code }) => code)).toEqual(["networks-not-moved"])
  })

  test("is refused for one machine that was left behind, by its name and network", () => {
    const world = deployed(cluster)
    rehang(world, "LAB-kali", "r7", "vmbr1007")
    const { vmid } = world.vmNamed("LAB-kali").detail
    expect(refusal(inputFor(world, labConfig(), { limit: "LAB-web" }, cluster))[0]?.message).toBe(
      `machines of the range are attached to bridges, but ranges now use VNets: LAB-kali (VM ${vmid}) on vmbr1007`,
    )
  })

  test("is refused for a router whose outer card was left behind", () => {
    const world = deployed(cluster)
    rehang(world, routerName, "ludusnat", "vmbr1000")
    expect(refusal(inputFor(world, labConfig(), {}, cluster))[0]?.message).toContain("on vmbr1000")
  })

  test("is refused when its machines were taken over, whatever addresses their cards have", () => {
    const world = deployed(cluster)
    rehang(world, routerName, "ludusnat", "vmbr1000")
    const { detail } = world.vmNamed(routerName)
    const { mark, groups } = readDescription(detail.description)
    detail.description = writeDescription({ range: lab, machine: mark!.machine, adopted: true }, groups)
    detail.nics = detail.nics.map((nic): Nic => ({ ...nic, mac: `BC:24:11:00:00:0${nic.index}` }))
    expect(refusal(inputFor(world, labConfig(), {}, cluster))[0]?.message).toContain("on vmbr1000")
  })

  test("can be switched, destroyed and deleted as it is", () => {
    const world = deployed(bridged).view()
    const power = planPower({ range, world, change: "off", vmids: undefined })
    expect(keysOf(Result.getOrThrow(power))).toContain("stop:LAB-web")
    for (const kind of ["machines", "range"] as const)
      expect(keysOf(Result.getOrThrow(planDestroy({ range, settings: onVnets, world, scope: { kind } })))).toContain(
        "delete:LAB-web",
      )
  })
})

describe("deleting a range whose mode was changed", () => {
  const deletion = (world: ModelWorld, mode: PlanSettings) =>
    Result.getOrThrow(planDestroy({ range, settings: mode, world: world.view(), scope: { kind: "range" } }))

  test.each([
    { made: bridged, now: onVnets, network: "bridge vmbr1007" },
    { made: cluster, now: onBridges, network: "vnet r7" },
  ])("removes the $network that was made before, when the last machine is gone", ({ made, now, network }) => {
    const world = deployed(made)
    const plan = deletion(world, now)
    expect(networksRemovedBy(plan)).toEqual([network])
    const { after } = plan.steps.find(({ action }) => action.kind === "remove-network")!
    expect(after).toEqual(keysOf(plan).filter((key) => key.startsWith("delete:")))
    expect(after.length).toBeGreaterThan(0)
    world.apply(plan)
    expect([...world.networks.keys()]).toEqual(["ludusnat"])
    expect(keysOf(deletion(world, now))).toEqual([])
  })

  test("names the bridge by the node that holds it", () => {
    const { action } = deletion(deployed(bridged), onVnets).steps.find((s) => s.action.kind === "remove-network")!
    expect(action).toMatchObject({ network: { type: "bridge", node: "pve1" } })
  })

  test("removes both where both are there, and says so", () => {
    for (const mode of [onBridges, onVnets]) {
      const world = deployed(bridged)
      world.networks.set("r7", { name: "r7", node: undefined, usable: true, ours: true })
      const plan = deletion(world, mode)
      expect(networksRemovedBy(plan)).toEqual(["bridge vmbr1007", "vnet r7"])
      expect(new Set(keysOf(plan)).size).toBe(plan.steps.length)
      expect(plan.changes.map(({ object }) => object)).toEqual(
        expect.arrayContaining(["network vmbr1007", "network r7", "pool LAB"]),
      )
      world.apply(plan)
      expect([...world.networks.keys()]).toEqual(["ludusnat"])
    }
  })

  test("leaves alone what somebody else made, and names it", () => {
    const world = deployed(bridged)
    world.networks.set("r7", { name: "r7", node: undefined, usable: true, ours: false })
    const plan = deletion(world, onVnets)
    expect(networksRemovedBy(plan)).toEqual(["bridge vmbr1007"])
    expect(plan.notes).toEqual(["the network r7 is not ours, so it stays"])
    world.apply(plan)
    expect([...world.networks.keys()]).toEqual(["ludusnat", "r7"])
  })
})

describe("machines on another network are no reason to refuse", () => {
  test("when the range has no machines", () => {
    for (const mode of [bridged, cluster])
      expect(keysOf(planned(inputFor(labWorld(), labConfig(), {}, mode)))).toContain("network")
  })

  test("when the operator keeps the outside network on that bridge", () => {
    const kept = { settings: { ...onVnets, natNetwork: "vmbr1000" } }
    expect(keysOf(planned(inputFor(deployed(kept), labConfig(), {}, kept)))).toEqual([])
  })

  test("when it is a clone that still has the card of its template", () => {
    const world = deployed(cluster)
    const { detail } = world.vmNamed("LAB-web")
    detail.nics = [{ index: 0, model: "virtio", mac: "BC:24:11:AA:BB:CC", bridge: "vmbr1000", tag: undefined, firewall: false }]
    expect(keysOf(planned(inputFor(world, labConfig(), {}, cluster)))).toContain("configure:LAB-web")
  })

  test("when the name only begins alike", () => {
    const world = deployed(cluster)
    rehang(world, "LAB-web", "r7", "vmbr10070")
    expect(keysOf(planned(inputFor(world, labConfig(), {}, cluster)))).toContain("configure:LAB-web")
  })
})
