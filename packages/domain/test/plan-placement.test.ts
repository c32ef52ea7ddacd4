import { describe, expect, test } from "vitest"
import { type DeployInput, type ObservedZone, templatesToRead, type Plan } from "../src/index.ts"
import { labConfig, labTemplates, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, type ModelWorld, planned, refusal, settings } from "./plan-model.ts"

const cluster = { settings: { ...settings, clusterMode: true } }
const place = (world: ModelWorld, config = labConfig()): Plan => planned(inputFor(world, config, {}, cluster))
const nodeOf = (plan: Plan, machine: string) => plan.placements.find((p) => p.machine === machine)
const three = (shared = true): ModelWorld => labWorld({ nodes: ["pve1", "pve2", "pve3"], shared })

const zoneOn = (node: string, state: ObservedZone["state"]): ObservedZone => ({ zone: "ludus", node, state })
const withZones = (input: DeployInput, zones: readonly ObservedZone[]): DeployInput => ({
  ...input,
  world: { ...input.world, cluster: { ...input.world.cluster, zones } },
})

describe("a machine is placed", () => {
  test("where its target_node says, then where the range's default says", () => {
    const config = labConfig({ web: { target_node: "pve3" } }, { defaults: { target_node: "pve2" } })
    const plan = place(three(), config)
    expect(nodeOf(plan, "LAB-web")).toEqual({ machine: "LAB-web", node: "pve3", reason: "target_node of the machine" })
    expect(nodeOf(plan, "LAB-kali")).toEqual({
      machine: "LAB-kali",
      node: "pve2",
      reason: "defaults.target_node of the range",
    })
  })

  test("where there is most room, counting what this plan puts there", () => {
    const world = three()
    world.nodes = world.nodes.map((n) => (n.name === "pve1" ? { ...n, memoryUsedMiB: n.memoryMiB * 0.9 } : n))
    const plan = place(world)
    const used = plan.placements.map((p) => p.node)
    expect(used.filter((n) => n === "pve2")).toHaveLength(3)
    expect(used.filter((n) => n === "pve3")).toHaveLength(3)
    expect(nodeOf(plan, routerName)?.reason).toBe(
      "most room of 3 nodes: 6 % of its memory and 10 % of its cores are in use or planned before it",
    )
  })

  test("counting what the plan wakes there", () => {
    const world = three()
    const config = labConfig({ ws: null, web: null, kali: null, dc: { target_node: "pve1", ram_gb: 64 } })
    world.apply(place(world, config))
    world.nodes = world.nodes.map((n) => ({ ...n, memoryUsedMiB: n.name === "pve1" ? 0 : 16_384 }))
    const added = () =>
      nodeOf(place(world, labConfig({ ...off, web: {}, dc: { target_node: "pve1", ram_gb: 64 } })), "LAB-web")?.node
    const off = { ws: null, kali: null }
    expect(added()).toBe("pve1")
    world.vmNamed("LAB-dc").machine.power = "stopped"
    expect(added()).not.toBe("pve1")
  })

  test("counting what the plans of other ranges reserved there", () => {
    const input = inputFor(three(), labConfig({ dc: null, dc2: null, ws: null, kali: null }), {}, cluster)
    const reserved = [{ node: "pve1", memoryMiB: 65_536, cpus: 8 }]
    const used = (plan: Plan) => plan.placements.map((p) => p.node)
    expect(used(planned(input))).toContain("pve1")
    expect(used(planned({ ...input, world: { ...input.world, reserved } }))).not.toContain("pve1")
  })

  test("on nodes that are up only", () => {
    const world = three()
    world.nodes = world.nodes.map((n) => ({ ...n, online: n.name === "pve1" || n.name === "pve2" }))
    expect(new Set(place(world).placements.map((p) => p.node))).toEqual(new Set(["pve1", "pve2"]))
  })

  test("on nodes only that have the zone of its network, where any shows it", () => {
    const world = three()
    const spans = (...nodes: readonly string[]) => nodes.map((node) => zoneOn(node, "available"))
    const placedWith = (zones: readonly ObservedZone[], config = labConfig()) =>
      withZones(inputFor(world, config, {}, cluster), zones)
    const used = (plan: Plan) => new Set(plan.placements.map((p) => p.node))
    expect(used(planned(placedWith(spans("pve1", "pve2"))))).toEqual(new Set(["pve1", "pve2"]))
    expect(used(planned(placedWith(spans("pve2"))))).toEqual(new Set(["pve2"]))
    expect(used(planned(placedWith([{ ...zoneOn("pve1", "available"), zone: "other" }])))).toHaveLength(3)
    const [issue] = refusal(placedWith(spans("pve2"), labConfig({ web: { target_node: "pve3" } })))
    expect(issue).toMatchObject({
      code: "zone-unusable",
      message: "LAB-web requires the node pve3, which does not belong to the SDN zone ludus",
    })
    world.nodes = world.nodes.map((n) => ({ ...n, online: n.name !== "pve2" }))
    expect(refusal(placedWith(spans("pve2")))[0]).toMatchObject({
      code: "zone-unusable",
      message: expect.stringContaining("no node that is up belongs to the SDN zone ludus"),
    })
  })

  test("on a node that could not make the zone's networks only where it is named or where there is no other", () => {
    const zones = [zoneOn("pve1", "error"), zoneOn("pve2", "pending"), zoneOn("pve3", "available")]
    const placed = (states: readonly ObservedZone[], config = labConfig()) =>
      planned(withZones(inputFor(three(), config, {}, cluster), states))
    expect(new Set(placed(zones).placements.map((p) => p.node))).toEqual(new Set(["pve2", "pve3"]))
    const named = placed(zones, labConfig({ web: { target_node: "pve1" } }))
    expect(nodeOf(named, "LAB-web")?.node).toBe("pve1")
    expect(placed(zones.map((z) => ({ ...z, state: "error" as const }))).placements).toHaveLength(6)
  })

  test("not from a template whose own node is down, even if its disk is shared", () => {
    const world = labWorld({ nodes: ["pve1", "pve2"] })
    world.nodes = world.nodes.map((n) => ({ ...n, online: n.name !== "pve1" }))
    const issues = refusal(inputFor(world, labConfig(), {}, cluster))
    expect(new Set(issues.map((i) => i.code))).toEqual(new Set(["node-offline"]))
    expect(issues.map((i) => i.message)).toEqual(
      ["debian-11-x64-server-template", "win-server", "win-client", "debian"].map(
        (name) => `the template ${name} is on the node pve1, which is offline`,
      ),
    )
    expect(issues[0]?.hint).toContain("Bring pve1 back")
  })

  test("the router where its own target_node says, else where the range's default says", () => {
    const config = (router: object) => labConfig({}, { defaults: { target_node: "pve2" }, router })
    expect(nodeOf(place(three(), config({ target_node: "pve3" })), routerName)?.node).toBe("pve3")
    expect(nodeOf(place(three(), config({})), routerName)?.node).toBe("pve2")
  })

  test("where most room is left afterwards, even if a small node is emptier now", () => {
    const world = three()
    const memory = { pve1: [16_384, 1024], pve2: [524_288, 262_144], pve3: [524_288, 500_000] } as const
    world.nodes = world.nodes.map((n) => {
      const [memoryMiB, memoryUsedMiB] = memory[n.name as keyof typeof memory]
      return { ...n, memoryMiB, memoryUsedMiB }
    })
    const config = labConfig({ ws: null, web: null, kali: null, dc2: null, dc: { ram_gb: 32 } })
    expect(nodeOf(place(world, config), "LAB-dc")?.node).toBe("pve2")
  })

  test("only where the shared storage of its template is", () => {
    const world = three()
    world.storages = world.storages.filter((s) => s.node !== "pve3")
    expect(new Set(place(world).placements.map((p) => p.node))).toEqual(new Set(["pve1", "pve2"]))
    const issues = refusal(inputFor(world, labConfig({ web: { target_node: "pve3" } }), {}, cluster))
    expect(issues.map((i) => i.message)).toEqual([
      "debian cannot be cloned to pve3 for LAB-web: its disk is on the storage vmstore, which pve3 does not have",
    ])
  })

  test("as a full clone only where the storage for it is: on the template's own node when that is not shared", () => {
    const full = (target?: string) =>
      labConfig({ web: { full_clone: true, ...(target === undefined ? {} : { target_node: target }) } })
    const inputOf = (world: ModelWorld, config = full()) =>
      inputFor(world, config, {}, { settings: { ...cluster.settings, vmStorage: "local-lvm" } })
    const world = three()
    const home = world.vmNamed("debian").machine.node
    expect(nodeOf(planned(inputOf(world)), "LAB-web")).toMatchObject({
      node: home,
      reason: "the only node that can clone debian",
    })
    expect(refusal(inputOf(world, full("pve3"))).map((i) => i.message)).toEqual([
      "debian cannot be cloned to pve3 for LAB-web: it is on pve1, and full clones go to the storage local-lvm, which is not shared",
    ])
    world.storages = world.storages.filter((s) => s.name !== "local-lvm" || s.node !== home)
    const [issue] = refusal(inputOf(world))
    expect(issue).toMatchObject({ code: "no-node", hint: expect.stringContaining("shared storage") as string })
    expect(issue?.message).toContain("full clones go to the storage local-lvm, which pve1 does not have")
  })

  test("only where its template can be cloned", () => {
    const plan = place(three(false))
    expect(nodeOf(plan, "LAB-dc")).toEqual({ machine: "LAB-dc", node: "pve2", reason: "the only node that can clone win-server" })
    expect(nodeOf(plan, "LAB-ws")?.node).toBe("pve3")
  })

  test("from the template of its own node where each node has one", () => {
    const world = three(false)
    world.add({ vmid: 200, name: "win-server", node: "pve1", template: true, storage: "local-lvm" })
    const plan = place(world)
    const sources = plan.steps.flatMap(({ action }) =>
      action.kind === "clone" ? [[action.machine.node, action.template.node]] : [],
    )
    expect(sources.every(([target, source]) => target === source)).toBe(true)
    expect(new Set(["LAB-dc", "LAB-dc2"].map((m) => nodeOf(plan, m)?.node))).toEqual(new Set(["pve1", "pve2"]))
  })

  test("with everything on one node where there is no cluster mode", () => {
    const world = three()
    const plan = planned(inputFor(world, labConfig(), {}, { settings: { ...settings, defaultNode: "pve2" } }))
    expect(new Set(plan.placements.map((p) => p.node))).toEqual(new Set(["pve2"]))
  })

  test("and overcommitted memory gets a note", () => {
    const world = labWorld()
    world.nodes = world.nodes.map((n) => ({ ...n, memoryMiB: 20_000 }))
    expect(place(world).notes).toEqual(["pve1: 28672 MiB of memory are in use or planned, but it has 20000 MiB"])
  })

  test("and what others have planned, and machines that are only started, count as well", () => {
    const world = labWorld()
    world.apply(place(world))
    world.vmNamed("LAB-web").machine.power = "stopped"
    world.nodes = world.nodes.map((n) => ({ ...n, memoryUsedMiB: 1_000, memoryMiB: 9_000 }))
    const input = inputFor(world, labConfig(), {}, cluster)
    const notesWith = (memoryMiB: number) =>
      planned({ ...input, world: { ...input.world, reserved: [{ node: "pve1", cpus: 2, memoryMiB }] } }).notes
    expect(notesWith(0)).toEqual([])
    expect(notesWith(8_000)).toEqual([
      expect.stringMatching(/^pve1: \d+ MiB of memory are in use or planned, but it has 9000 MiB$/u),
    ])
    world.vmNamed("LAB-web").machine.power = "running"
    const idle = inputFor(world, labConfig(), {}, cluster)
    expect(
      planned({ ...idle, world: { ...idle.world, reserved: [{ node: "pve1", cpus: 2, memoryMiB: 80_000 }] } }).notes,
    ).toEqual([])
  })
})

describe("a clone", () => {
  test("waits for the lock of its storage: one for all nodes where the storage is shared, else one a node", () => {
    const uses = (plan: Plan) =>
      new Set(plan.steps.flatMap((s) => (s.action.kind === "clone" ? s.uses.map((u) => u.resource) : [])))
    expect(uses(place(three()))).toEqual(new Set(["clone@vmstore"]))
    expect(uses(place(three(false)))).toEqual(new Set(["clone@pve1/local-lvm", "clone@pve2/local-lvm", "clone@pve3/local-lvm"]))
  })

  test("that is full goes to the storage of the settings", () => {
    const world = labWorld()
    const config = labConfig({ web: { full_clone: true } })
    const plan = planned(inputFor(world, config, {}, { settings: { ...settings, vmStorage: "local-lvm" } }))
    const step = plan.steps.find((s) => s.key === "clone:LAB-web")
    expect(step?.action).toMatchObject({ full: true, storage: "local-lvm" })
    expect(step?.uses).toEqual([{ resource: "clone@pve1/local-lvm", slots: 4 }])
    expect(step?.estimate).toBeGreaterThan(plan.steps.find((s) => s.key === "clone:LAB-kali")!.estimate)
  })
})

describe("templates to read", () => {
  test("are those of machines to be made, and none when all are there", () => {
    const world = labWorld()
    const input = inputFor(world, labConfig(), {}, cluster)
    expect(templatesToRead(input)).toHaveLength(labTemplates.length)
    world.apply(planned(input))
    expect(templatesToRead(inputFor(world, labConfig()))).toEqual([])
    const changed = labConfig({ web: { template: "win-client" } })
    expect(templatesToRead(inputFor(world, changed))).toEqual([])
    expect(templatesToRead(inputFor(world, changed, { replace: true }))).toHaveLength(1)
  })
})
