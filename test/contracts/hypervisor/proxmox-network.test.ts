import { adminGroup, type NetworkSpec, type ObservedZone } from "@rangewright/domain"
import { Hypervisor, HypervisorAccess, HypervisorFault, HypervisorNetwork, type NetworkAction } from "@rangewright/ports"
import type { Timing } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { bridgeOf, networkAction, networkNamed, performOn } from "./network.contract.ts"
import { asRoot, makeRig, type Rig } from "./support/rig.ts"
import { rangeId } from "./support/under-test.ts"

const vnetOf = (n = 1): Extract<NetworkSpec, { readonly type: "vnet" }> => ({
  type: "vnet",
  name: `r${n}`,
  zone: "ludus",
  tag: 100 + n,
  alias: `rangewright LAB${n}`,
})
const create = (n = 1, nodes?: readonly string[]): NetworkAction => ({
  kind: "create-network",
  network: vnetOf(n),
  ...(nodes === undefined ? {} : { nodes }),
})
const remove = (n = 1): NetworkAction => networkAction("remove-network", vnetOf(n))

/** Calls as root, in simulated time. */
const root = (rig: Rig, method: string, path: string, form = ""): Promise<string> =>
  rig.run(Effect.promise(() => asRoot(rig.sim, method, path, form)))

/** A cluster of three nodes with an applied VXLAN zone. */
const cluster = async (timing: Partial<Timing> = {}): Promise<Rig> => {
  const rig = makeRig({ nodes: 3, timing })
  await root(rig, "POST", "/cluster/sdn/zones", "type=vxlan&zone=ludus&peers=10.0.0.2%2C10.0.0.3%2C10.0.0.4")
  await root(rig, "PUT", "/cluster/sdn")
  await rig.run(Effect.sleep("30 seconds"))
  return rig
}

const failureOf = (rig: Rig, action: NetworkAction): Promise<HypervisorFault> => rig.run(Effect.flip(performOn(action)))

describe("VNets", () => {
  it("are VLAN-aware, tagged, and present on every node when the action has settled", async () => {
    const rig = await cluster()
    await rig.run(performOn(create()))
    expect(await rig.run(networkNamed("r1"))).toEqual({ spec: vnetOf(), usable: true, ours: true, vlanAware: true })
    await rig.close()
  })

  it("made twice are made once", async () => {
    const rig = await cluster()
    await rig.run(performOn(create()))
    const before = rig.sim.calls.counts().mutating
    await rig.restarted().run(performOn(create()))
    expect(rig.sim.calls.counts().mutating).toBe(before)
    await rig.close()
  })

  it("made by many at once share one apply", async () => {
    const rig = await cluster()
    const applies = () => rig.sim.calls.counts().byRoute["PUT /cluster/sdn"] ?? 0
    const before = applies()
    await rig.run(
      Effect.gen(function* () {
        const networks = yield* HypervisorNetwork
        const actions = [1, 2, 3, 4, 5].map((n) => create(n))
        const tokens = yield* Effect.forEach(actions, (action) => networks.dispatch(action))
        yield* Effect.forEach(actions, (action, index) => networks.settle(action, tokens[index]!.token), {
          concurrency: "unbounded",
        })
      }),
    )
    expect(applies() - before).toBe(1)
    const seen = await rig.run(HypervisorNetwork.use((networks) => networks.observe))
    expect(seen.filter(({ ours, usable }) => ours && usable)).toHaveLength(5)
    await rig.close()
  })

  it("are removed together with the rights on them", async () => {
    const rig = await cluster()
    await rig.run(performOn(create()))
    await rig.run(
      HypervisorAccess.use((access) =>
        Effect.gen(function* () {
          yield* access.ensurePool(rangeId)
          yield* access.apply({ kind: "create-group", group: adminGroup })
          for (const place of [
            { type: "pool", rangeId },
            { ...vnetOf(), type: "vnet" },
          ] as const)
            yield* access.apply({ kind: "grant", place, groups: [adminGroup] })
        }),
      ),
    )
    expect(await root(rig, "GET", "/access/acl")).toMatch(/r1"/u)
    await rig.run(performOn(remove()))
    await rig.run(HypervisorAccess.use((access) => access.removePool(rangeId)))
    expect(await rig.run(networkNamed("r1"))).toBeUndefined()
    expect(await root(rig, "GET", "/access/acl")).not.toMatch(/LAB1|r1"/u)
    expect(await rig.run(performOn(remove()))).toBeNull()
    await rig.close()
  })

  it("are removed together with the bridge of the same range: neither change blocks the other", async () => {
    const rig = await cluster()
    const both = [bridgeOf(rig), vnetOf()]
    for (const network of both) await rig.run(performOn(networkAction("create-network", network)))
    await rig.run(
      Effect.forEach(both, (network) => performOn(networkAction("remove-network", network)), { concurrency: "unbounded" }),
    )
    for (const { name } of both) expect(await rig.run(networkNamed(name))).toBeUndefined()
    await rig.close()
  })

  it("need their zone: the fault names it and says how to create it", async () => {
    const rig = makeRig({ nodes: 2 })
    const fault = await failureOf(rig, create())
    expect(fault.facts.reason).toBe("not-found")
    expect(fault.message).toContain("zone ludus")
    expect(fault.hint).toContain("VXLAN")
    await rig.close()
  })

  it("of others are never changed", async () => {
    const rig = await cluster()
    await root(rig, "POST", "/cluster/sdn/vnets", "vnet=r1&zone=ludus&tag=77")
    await root(rig, "PUT", "/cluster/sdn")
    await rig.run(Effect.sleep("30 seconds"))
    expect((await failureOf(rig, create())).facts.reason).toBe("not-ours")
    expect((await failureOf(rig, remove())).facts.reason).toBe("not-ours")
    await rig.close()
  })

  it("wait for other people's pending changes, which are named and not applied", async () => {
    const rig = await cluster()
    await root(rig, "POST", "/cluster/sdn/vnets", "vnet=theirs&zone=ludus&tag=77")
    const fault = await failureOf(rig, create())
    expect(fault.facts.reason).toBe("failed")
    expect(fault.message).toContain("VNet theirs is new")
    expect(await rig.run(networkNamed("theirs"))).toMatchObject({ usable: false })
    await root(rig, "POST", "/cluster/sdn/rollback")
    await rig.run(performOn(create()))
    await rig.close()
  })

  const waitings: readonly (readonly [string, string, (rig: Rig) => Promise<unknown>])[] = [
    ["a zone", "zone theirs is new", (rig) => root(rig, "POST", "/cluster/sdn/zones", "type=simple&zone=theirs")],
    ["a change of a VNet of ours", "VNet r9 is changed", (rig) => root(rig, "PUT", "/cluster/sdn/vnets/r9", "tag=1234")],
    [
      "a subnet of somebody's VNet",
      "subnet plain-10.77.0.0-24 is new",
      (rig) => root(rig, "POST", "/cluster/sdn/vnets/theirs/subnets", "subnet=10.77.0.0/24&type=subnet"),
    ],
    [
      "an edit of a node's own network",
      "vmbr77 on node pve2 is edited",
      (rig) => root(rig, "POST", "/nodes/pve2/network", "iface=vmbr77&type=bridge&autostart=1"),
    ],
  ]

  it.each(waitings)("do not apply pending changes of others when they are made or removed: %s", async (_what, words, wait) => {
    const rig = await cluster()
    await root(rig, "POST", "/cluster/sdn/zones", "type=simple&zone=plain")
    await root(rig, "POST", "/cluster/sdn/vnets", "vnet=theirs&zone=plain")
    await root(rig, "PUT", "/cluster/sdn")
    await rig.run(Effect.sleep("30 seconds"))
    await rig.run(performOn(create(9)))
    await rig.run(performOn(create(2)))
    const written = await rig.run(HypervisorNetwork.use((networks) => networks.dispatch(create(3))))
    await wait(rig)
    const before = applies(rig)
    for (const action of [create(), remove(2)]) {
      const fault = await failureOf(rig, action)
      expect(fault.facts.reason).toBe("failed")
      expect(fault.message).toContain(words)
      expect(fault.hint).toMatch(/^Apply or (?:roll|revert)/u)
    }
    // our own earlier changes are still pending, too
    const late = await rig.run(Effect.flip(HypervisorNetwork.use((networks) => networks.settle(create(3), written.token))))
    expect(late.message).toContain(words)
    expect(applies(rig)).toBe(before)
    await rig.close()
  })

  it("are made while an unreachable node has pending edits: an apply does not reach it", async () => {
    const rig = await cluster()
    await root(rig, "POST", "/nodes/pve2/network", "iface=vmbr77&type=bridge&autostart=1")
    rig.sim.faults.add({ kind: "node-down", node: "pve2" })
    await rig.run(performOn(create()))
    expect(await rig.run(networkNamed("r1"))).toMatchObject({ usable: true })
    await rig.close()
  })

  it("whose tag is in use fail with `taken`", async () => {
    const rig = await cluster()
    await root(rig, "POST", "/cluster/sdn/vnets", "vnet=theirs&zone=ludus&tag=101")
    await root(rig, "PUT", "/cluster/sdn")
    await rig.run(Effect.sleep("30 seconds"))
    expect((await failureOf(rig, create())).facts.reason).toBe("taken")
    await rig.close()
  })

  it("fail with `locked` while somebody holds the SDN lock", async () => {
    const rig = await cluster()
    await root(rig, "POST", "/cluster/sdn/lock")
    expect((await failureOf(rig, create())).facts.reason).toBe("locked")
    await rig.close()
  })

  it("that a node could not make are a failure with the error of its reload, although the apply's task says OK", async () => {
    const rig = await cluster()
    const complaint = "error: r1: cannot create vxlan"
    const broken = rig.sim.faults.add({ kind: "network-reload-fails", node: "pve2", text: complaint })
    const fault = await failureOf(rig, create())
    expect(fault.facts.reason).toBe("failed")
    expect(fault.message).toContain("pve2: error")
    expect(fault.message).toContain(complaint)
    expect(fault.message).not.toContain("pve1")
    expect(await zoneStates(rig)).toEqual({ pve1: "available", pve2: "error", pve3: "available" })
    // if the plan does not need that node, it does not matter
    await rig.run(performOn(create(2, ["pve1", "pve3"])))
    rig.sim.faults.remove(broken)
    await rig.restarted().run(performOn(create()))
    expect(await zoneStates(rig)).toEqual({ pve1: "available", pve2: "available", pve3: "available" })
    await rig.close()
  })
})

const zoneStates = async (rig: Rig): Promise<Record<string, ObservedZone["state"]>> => {
  const { zones = [] } = await rig.run(Hypervisor.use((hypervisor) => hypervisor.observe))
  return Object.fromEntries(zones.flatMap(({ zone, node, state }) => (zone === "ludus" ? [[node, state]] : [])))
}

const applies = (rig: Rig): number => rig.sim.calls.counts().byRoute["PUT /cluster/sdn"] ?? 0

describe("a node that missed an apply", () => {
  /** Three VNets of ours, made while the third node was unreachable. */
  const missed = async (): Promise<Rig> => {
    const rig = await cluster()
    const down = rig.sim.faults.add({ kind: "node-down", node: "pve3" })
    for (const n of [1, 2, 3]) await rig.run(performOn(create(n)))
    rig.sim.faults.remove(down)
    expect(await zoneStates(rig)).toEqual({ pve1: "available", pve2: "available", pve3: "pending" })
    return rig
  }

  it("gets it when a VNet is needed there, with one apply for all who wait", async () => {
    const rig = await missed()
    const before = applies(rig)
    await rig
      .restarted()
      .run(Effect.forEach([1, 2, 3], (n) => performOn(create(n, ["pve2", "pve3"])), { concurrency: "unbounded" }))
    expect(applies(rig) - before).toBe(1)
    expect(await zoneStates(rig)).toEqual({ pve1: "available", pve2: "available", pve3: "available" })
    await rig.close()
  })

  it("is left alone if nothing is needed there", async () => {
    const rig = await missed()
    const before = rig.sim.calls.counts().mutating
    await rig.run(performOn(create(1, ["pve1", "pve2"])))
    expect(rig.sim.calls.counts().mutating).toBe(before)
    await rig.close()
  })

  it("and fails again is named, after one apply for all who wait", async () => {
    const rig = await missed()
    const before = applies(rig)
    rig.sim.faults.add({ kind: "network-reload-fails", node: "pve3", text: "error: vmbr0: port eno1 is missing" })
    const faults = await rig.run(
      Effect.forEach([1, 2, 3], (n) => Effect.flip(performOn(create(n, ["pve3"]))), { concurrency: "unbounded" }),
    )
    expect(applies(rig) - before).toBe(1)
    for (const fault of faults) expect(fault.message).toMatch(/pve3: error.*port eno1 is missing/u)
    await rig.close()
  })

  it("waits for other people's pending changes, which are named and not applied", async () => {
    const rig = await missed()
    await root(rig, "POST", "/cluster/sdn/vnets", "vnet=theirs&zone=ludus&tag=77")
    const before = applies(rig)
    const fault = await failureOf(rig, create(1, ["pve3"]))
    expect(fault.message).toContain("VNet theirs is new")
    expect(applies(rig)).toBe(before)
    await rig.close()
  })

  it("and becomes unreachable again meanwhile is not waited for", async () => {
    const rig = await missed()
    rig.sim.faults.add({ kind: "node-down", node: "pve3" })
    await rig.run(performOn(create(1, ["pve1", "pve3"])))
    await rig.close()
  })
})

/** From when to when each task of these types ran, as seconds of the simulator's clock. */
const spansOf = ({ sim }: Rig, type: string) =>
  [...sim.state.tasks.values()].filter((task) => task.type === type).map(({ starttime, endtime }) => [starttime, endtime ?? 0])

/** Begins an apply as another instance or a person does; it takes some seconds. */
const beginApply = (rig: Rig, path: string) => Effect.promise(() => asRoot(rig.sim, "PUT", path))

describe("while another instance or a person applies", () => {
  it("VNets are not applied: they wait for the end of that", async () => {
    const rig = await cluster()
    const before = spansOf(rig, "reloadnetworkall").length
    await rig.run(Effect.andThen(beginApply(rig, "/cluster/sdn"), performOn(create())))
    const [theirs, ours, ...more] = spansOf(rig, "reloadnetworkall").slice(before)
    expect(more).toEqual([])
    expect(ours![0]).toBeGreaterThanOrEqual(theirs![1]!)
    expect(await rig.run(networkNamed("r1"))).toMatchObject({ usable: true, ours: true })
    await rig.close()
  })

  it("VNets that a slow node lacks are not applied again if that brings them", async () => {
    const rig = await cluster({ networkReload: 20_000 })
    rig.sim.faults.add({ kind: "node-down", node: "pve3" })
    await rig.run(performOn(create()))
    rig.sim.faults.clear()
    const before = spansOf(rig, "reloadnetworkall").length
    await rig.run(Effect.andThen(beginApply(rig, "/cluster/sdn"), performOn(create(1, ["pve3"]))))
    expect(spansOf(rig, "reloadnetworkall").slice(before)).toHaveLength(1)
    await rig.close()
  })

  it("bridges are not applied, but no longer than two minutes", async () => {
    const rig = makeRig()
    const bridge = (n: number) => performOn(networkAction("create-network", bridgeOf(rig, n)))
    await rig.run(Effect.andThen(beginApply(rig, `/nodes/${rig.node}/network`), bridge(1)))
    // it takes the bridge along
    expect(spansOf(rig, "srvreload")).toHaveLength(1)
    const [hanging] = [...rig.sim.state.tasks.values()].filter(({ type }) => type === "srvreload")
    Object.assign(hanging!, { exitstatus: undefined, endtime: undefined })
    const from = rig.sim.clock.now()
    await rig.run(bridge(2))
    expect((rig.sim.clock.now() - from) / 1000).toBeGreaterThan(119)
    expect((rig.sim.clock.now() - from) / 1000).toBeLessThan(150)
    await rig.close()
  })
})

describe("an apply that does not end", () => {
  const hour = 3_600_000

  it("fails and is named after a quarter of an hour, and others may try", async () => {
    const rig = makeRig({ timing: { networkReload: hour } })
    const bridge = (n: number) => networkAction("create-network", bridgeOf(rig, n))
    const from = rig.sim.clock.now()
    const fault = await failureOf(rig, bridge(1))
    expect(fault.facts).toMatchObject({
      reason: "failed",
      detail: "its task srvreload networking on node pve has not ended within 15 min",
    })
    expect((await failureOf(rig, bridge(2))).facts.reason).toBe("failed")
    expect(rig.sim.clock.now() - from).toBeLessThan(hour)
    await rig.close()
  })

  it("of the SDN, too", async () => {
    const rig = await cluster({ networkReload: hour })
    // until the zone is in force
    await rig.run(Effect.sleep("4 hours"))
    const from = rig.sim.clock.now()
    // it is in force, but not where nodes have not got to it
    expect((await failureOf(rig, create())).facts).toMatchObject({
      reason: "failed",
      detail: expect.stringMatching(/^it was applied, but is not usable on every node/u) as string,
    })
    expect(rig.sim.clock.now() - from).toBeLessThan(hour / 3)
    await rig.close()
  })
})

describe("bridges", () => {
  it("made by many at once share one reload of the node", async () => {
    const rig = makeRig()
    await rig.run(
      Effect.gen(function* () {
        const networks = yield* HypervisorNetwork
        const actions = [1, 2, 3].map((n) => networkAction("create-network", bridgeOf(rig, n)))
        const tokens = yield* Effect.forEach(actions, (action) => networks.dispatch(action))
        yield* Effect.forEach(actions, (action, index) => networks.settle(action, tokens[index]!.token), {
          concurrency: "unbounded",
        })
      }),
    )
    expect(rig.sim.calls.counts().byRoute["PUT /nodes/{node}/network"]).toBe(1)
    await rig.close()
  })

  it("wait for other people's pending edits, which are named and not applied", async () => {
    const rig = makeRig()
    await root(rig, "POST", `/nodes/${rig.node}/network`, "iface=vmbr77&type=bridge&autostart=1")
    const fault = await failureOf(rig, networkAction("create-network", bridgeOf(rig)))
    expect(fault.facts.reason).toBe("failed")
    expect(fault.message).toContain("vmbr77")
    expect(await rig.run(networkNamed("vmbr1001"))).toBeUndefined()
    await root(rig, "DELETE", `/nodes/${rig.node}/network`)
    await rig.run(performOn(networkAction("create-network", bridgeOf(rig))))
    await rig.close()
  })

  it("whose reload fails are a failure with the node's error", async () => {
    const rig = makeRig()
    rig.sim.faults.add({ kind: "network-reload-fails", node: rig.node, text: "error: vmbr1001: no such device" })
    const fault = await failureOf(rig, networkAction("create-network", bridgeOf(rig)))
    expect(fault).toBeInstanceOf(HypervisorFault)
    expect(fault.message).toContain("ifreload")
    await rig.close()
  })
})
