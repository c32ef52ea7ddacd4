import { describe, expect, test } from "vitest"
import type { DeployChoice, ObservedZone, RangeConfig, Vmid } from "../src/index.ts"
import { labConfig, labTemplates, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, isBefore, keysOf, lab, type ModelWorld, planned, refusal, settings, stepOf } from "./plan-model.ts"

const deployed = (config: RangeConfig = labConfig()): ModelWorld => {
  const world = labWorld()
  world.apply(planned(inputFor(world, config)))
  return world
}
const plan = (world: ModelWorld, config: RangeConfig, choice: Partial<DeployChoice> = {}) =>
  planned(inputFor(world, config, choice))
const changesOf = (world: ModelWorld, config: RangeConfig, choice: Partial<DeployChoice> = {}) =>
  plan(world, config, choice).changes.filter((c) => c.kind !== "none")

describe("the first deploy", () => {
  const first = plan(labWorld(), labConfig())

  test("makes each VM with everything in one clone, one configure and one start", () => {
    expect(stepOf(first, "clone:LAB-web").action).toMatchObject({
      kind: "clone",
      name: "LAB-web",
      pool: lab,
      full: false,
      description:
        '{"groups":["LAB","LAB_linux_endpoints"],"rangewright":{"range":"LAB","machine":"LAB-web","template":"debian"}}',
    })
    const { vmid } = first.allocations.find((a) => a.machine === "LAB-web")!
    expect(stepOf(first, "configure:LAB-web").action).toMatchObject({
      settings: {
        cpus: 2,
        memoryMiB: 2048,
        balloonMiB: undefined,
        tags: ["rangewright"],
        tablet: false,
        nics: [{ index: 0, model: "virtio", bridge: "vmbr1007", tag: 20, firewall: false }],
      },
    })
    expect(vmid).toBeGreaterThanOrEqual(20_000)
  })

  test("gives guests that look for signs of virtualisation an old network card", () => {
    const world = labWorld({ templates: [...labTemplates, "win-antisandbox"] })
    const { action } = stepOf(plan(world, labConfig({ ws: { template: "win-antisandbox" } })), "configure:LAB-ws")
    expect(action.kind === "configure" && action.settings.nics.map((n) => n.model)).toEqual(["e1000"])
  })

  test("gives the router an outer card and one for each VLAN in order of appearance", () => {
    const { action } = stepOf(first, `configure:${routerName}`)
    expect(action.kind === "configure" && action.settings.nics.map((n) => [n.index, n.bridge, n.tag])).toEqual([
      [0, "vmbr1000", 1],
      [1, "vmbr1007", 10],
      [2, "vmbr1007", 20],
      [3, "vmbr1007", 99],
    ])
    expect(action.kind === "configure" && action.settings.tags).toEqual(["rangewright", "router"])
  })

  test("creates a domain before anything joins it, and only what crosses VLANs waits for the firewall", () => {
    expect(isBefore(first, "primary-dc:LAB-dc", "alt-dc:LAB-dc2")).toBe(true)
    expect(isBefore(first, "primary-dc:LAB-dc", "domain-join:LAB-ws")).toBe(true)
    expect(isBefore(first, `firewall:${routerName}`, "domain-join:LAB-ws")).toBe(true)
    expect(isBefore(first, `firewall:${routerName}`, "alt-dc:LAB-dc2")).toBe(false)
    const apart = plan(labWorld(), labConfig({ dc2: { vlan: 20 } }))
    expect(isBefore(apart, `firewall:${routerName}`, "alt-dc:LAB-dc2")).toBe(true)
    expect(isBefore(first, `firewall:${routerName}`, "primary-dc:LAB-dc")).toBe(false)
  })

  test("runs roles after the roles that they need, their own machine's stages and the router's names", () => {
    expect(isBefore(first, "role:LAB-web:database", "role:LAB-web:shop")).toBe(true)
    expect(isBefore(first, "role:LAB-web:shop", "role:LAB-kali:probe")).toBe(true)
    expect(isBefore(first, "packages:LAB-kali", "role:LAB-kali:probe")).toBe(true)
    expect(isBefore(first, `dns:${routerName}`, "role:LAB-web:database")).toBe(true)
  })

  test("has no barriers: independent steps do not wait for each other", () => {
    expect(isBefore(first, "address:LAB-web", "clone:LAB-ws")).toBe(false)
    const byGraph = plan(labWorld(), labConfig(), { roleSequence: "graph" })
    expect(isBefore(byGraph, "primary-dc:LAB-dc", "role:LAB-web:shop")).toBe(false)
    expect(isBefore(first, `start:${routerName}`, "address:LAB-web")).toBe(false)
  })

  test("uses limited resources: storages for clones, nodes for boots, playbook processes for stages", () => {
    expect(stepOf(first, "clone:LAB-web").uses).toEqual([{ resource: "clone@vmstore", slots: 4 }])
    expect(stepOf(first, "start:LAB-web").uses).toEqual([{ resource: "boot@pve1", slots: 8 }])
    expect(stepOf(first, "address:LAB-web").uses).toEqual([{ resource: "automation", slots: 20, ofHost: true }])
  })

  test("estimates by operating system", () => {
    expect(stepOf(first, "start:LAB-web").estimate).toBe(25)
    expect(stepOf(first, "start:LAB-dc").estimate).toBe(75)
    const domain = 4 + 1 + 1 + 75 + 60 + 60 + 330 + 300
    expect(plan(labWorld(), labConfig(), { roleSequence: "graph" }).criticalPathSeconds).toBe(domain)
    expect(first.criticalPathSeconds).toBe(domain + 3 * 120)
  })

  test("uses a VNet in a cluster, and every node", () => {
    const world = labWorld({ nodes: ["pve1", "pve2"] })
    const { steps } = planned(inputFor(world, labConfig(), {}, { settings: { ...settings, clusterMode: true } }))
    expect(steps.find((s) => s.key === "network")?.action).toEqual({
      kind: "create-network",
      network: { type: "vnet", name: "r7", zone: "ludus", tag: 107, alias: "rangewright LAB" },
      nodes: ["pve1", "pve2"],
    })
    expect(new Set(steps.flatMap(({ action }) => (action.kind === "clone" ? [action.machine.node] : [])))).toEqual(
      new Set(["pve1", "pve2"]),
    )
  })

  test("leaves all work inside machines out where the operator wants none, and says so once for each stage", () => {
    const { steps, notes } = planned(inputFor(labWorld(), labConfig(), {}, { settings: { ...settings, guestsLeftOut: true } }))
    expect(steps.filter(({ action }) => action.kind === "guest")).toEqual([])
    expect(notes).toContain("nothing is done inside machines: the service is configured with guest_automation: none")
    expect(notes).toContain("the stage role is left out: LAB-web, LAB-kali")
  })

  test("does not wait for the agent of an unmanaged machine and sets no address there", () => {
    const steps = plan(labWorld(), labConfig({ web: { unmanaged: true } })).steps.filter((s) => s.machine === "LAB-web")
    expect(steps.map((s) => s.key)).toEqual([
      "clone:LAB-web",
      "configure:LAB-web",
      "start:LAB-web",
      "role:LAB-web:database",
      "role:LAB-web:shop",
    ])
    expect(steps[2]?.action).toMatchObject({ kind: "start", untilAgent: false })
  })
})

describe("a later deploy", () => {
  test("restarts a running VM for cores and memory, and does it in three calls", () => {
    const world = deployed()
    const config = labConfig({ web: { cpus: 4, ram_gb: 4 } })
    const next = plan(world, config)
    expect(keysOf(next)).toEqual(["shutdown:LAB-web", "configure:LAB-web", "start:LAB-web"])
    expect(next.steps.map((s) => s.after)).toEqual([[], ["shutdown:LAB-web"], ["configure:LAB-web"]])
    expect(changesOf(world, config)).toEqual([
      { kind: "change", object: "LAB-web", reasons: ["cores 2 -> 4", "memory 2048 MiB -> 4096 MiB", "restart"] },
    ])
  })

  test("shuts down a VM whose power cannot be read too, since it may be running", () => {
    const world = deployed()
    world.vmNamed("LAB-web").machine.power = "unknown"
    expect(keysOf(plan(world, labConfig({ web: { cpus: 4 } })))).toEqual([
      "shutdown:LAB-web",
      "configure:LAB-web",
      "start:LAB-web",
    ])
  })

  test("changes the minimum memory of a running VM, and restarts it only to switch ballooning on or off", () => {
    const world = deployed(labConfig({ web: { ram_min_gb: 1 } }))
    const kinds = (more: { readonly ram_min_gb?: number }) =>
      plan(world, labConfig({ web: more })).steps.map((s) => s.action.kind)
    expect(kinds({ ram_min_gb: 0.5 })).toEqual(["configure"])
    expect(kinds({})).toEqual(["shutdown", "configure", "start"])
    world.vmNamed("LAB-web").detail.balloonMiB = 0
    expect(kinds({})).toEqual([])
    world.vmNamed("LAB-web").detail.balloonMiB = 2048
    expect(kinds({})).toEqual([])
  })

  test("changes groups and VLANs of a running VM without a restart", () => {
    const next = plan(deployed(), labConfig({ web: { vlan: 30, ansible_groups: ["shops"] } }))
    const kinds = next.steps.filter((s) => s.machine === "LAB-web").map((s) => s.action.kind)
    expect(kinds.slice(0, 2)).toEqual(["configure", "guest"])
    expect(stepOf(next, "address:LAB-web").after).toEqual(["configure:LAB-web"])
  })

  test("restarts a VM whose cards change only with a start, and only when cards themselves change", () => {
    const world = deployed()
    for (const { detail } of world.vms.values()) detail.coldCards = true
    expect(keysOf(plan(world, labConfig({ web: { vlan: 10, ip_last_octet: 77 } })))).not.toContain("shutdown:LAB-web")
    const next = plan(world, labConfig({ extra: { vlan: 5, ip_last_octet: 9 } }))
    const { key } = stepOf(next, `shutdown:${routerName}`)
    expect(isBefore(next, key, `configure:${routerName}`)).toBe(true)
    expect(isBefore(next, `configure:${routerName}`, `start:${routerName}`)).toBe(true)
    world.apply(next)
    expect(keysOf(plan(world, labConfig({ extra: { vlan: 5, ip_last_octet: 9 } })))).toEqual([])
  })

  test("adds the card of a new VLAN to the router and leaves the others where they are", () => {
    const config = labConfig({ dc: null, dc2: null, ws: null, extra: { vlan: 5, ip_last_octet: 9 } })
    const { action: kept } = stepOf(plan(deployed(), config), `configure:${routerName}`)
    expect(kept.kind === "configure" && kept.settings.nics.map((n) => [n.index, n.tag])).toEqual([
      [0, 1],
      [1, 10],
      [2, 20],
      [3, 99],
      [4, 5],
    ])
    const next = plan(deployed(), config, { prune: true })
    const { action } = stepOf(next, `configure:${routerName}`)
    expect(action.kind === "configure" && action.settings.nics.map((n) => [n.index, n.tag])).toEqual([
      [0, 1],
      [1, 5],
      [2, 20],
      [3, 99],
    ])
    expect(isBefore(next, `configure:${routerName}`, `router:${routerName}`)).toBe(true)
  })

  test("gives a half-made router its outer card first, whatever its template brought", () => {
    const world = deployed()
    const { detail } = world.vmNamed(routerName)
    const [outer, ...legs] = detail.nics
    detail.nics = [{ ...outer!, bridge: "vmbr1007", tag: 10 }]
    const { action } = stepOf(plan(world, labConfig()), `configure:${routerName}`)
    expect(action.kind === "configure" && action.settings.nics).toEqual([outer, ...legs])
  })

  test("leaves a VM as it is whose template changed, says so, and does everything else that the configuration asks for", () => {
    const world = deployed()
    const config = labConfig({
      dc: { template: "win-client" },
      ws: { template: "win-server", windows: { chocolatey_packages: ["vim"] } },
    })
    const next = plan(world, config)
    expect(next.steps.filter((s) => s.action.kind !== "guest")).toEqual([])
    expect(keysOf(next)).toContain("chocolatey:LAB-ws")
    expect(next.changes.filter((c) => ["LAB-dc", "LAB-ws"].includes(c.object))).toEqual([
      { kind: "keep", object: "LAB-dc", reasons: ["made from win-server, not win-client: stays unless the deploy replaces"] },
      {
        kind: "change",
        object: "LAB-ws",
        reasons: [
          expect.stringContaining("chocolatey"),
          "made from win-client, not win-server: stays unless the deploy replaces",
        ],
      },
    ])
    expect(next.kept?.map((k) => k.machine)).toEqual(["LAB-dc", "LAB-ws"])
  })

  test("leaves the cards of a VM as its own template had them", () => {
    const world = deployed()
    const templates = labWorld({ templates: [...labTemplates, "win-antisandbox"] })
    for (const [vmid, vm] of templates.vms) if (!world.vms.has(vmid)) world.vms.set(vmid, vm)
    const config = labConfig({ ws: { template: "win-antisandbox" } })
    expect(keysOf(plan(world, config))).not.toContain("configure:LAB-ws")
  })

  test("replaces a VM whose template changed when asked to, and repeats what depends on it", () => {
    const world = deployed()
    const config = labConfig({ dc: { template: "win-client" } })
    const next = plan(world, config, { replace: true })
    expect(next.kept).toEqual([])
    expect(next.changes.find((c) => c.object === "LAB-dc")).toMatchObject({
      kind: "replace",
      reasons: ["template win-server -> win-client", "stages: address, windows-base, primary-dc"],
    })
    expect(keysOf(next).slice(0, 5)).toEqual(["stop:LAB-dc", "delete:LAB-dc", "clone:LAB-dc", "configure:LAB-dc", "start:LAB-dc"])
    expect(isBefore(next, "delete:LAB-dc", "clone:LAB-dc")).toBe(true)
    expect(keysOf(next)).toContain("domain-join:LAB-ws")
    expect(keysOf(next)).toContain("alt-dc:LAB-dc2")
  })

  test("removes nothing that the configuration no longer has: it stays with its network, and the plan says so", () => {
    const world = deployed()
    const config = labConfig({ kali: null })
    const next = plan(world, config)
    expect(next.steps.filter((s) => s.action.kind !== "guest")).toEqual([])
    expect(keysOf(next)).not.toContain(`router:${routerName}`)
    const { vmid } = world.vmNamed("LAB-kali").detail
    expect(next.kept).toEqual([{ machine: "LAB-kali", vmid }])
    expect(next.changes.find((c) => c.object === "LAB-kali")).toEqual({
      kind: "keep",
      object: "LAB-kali",
      reasons: ["not in the configuration: stays unless the deploy prunes"],
    })
    // nor does a later deploy start it, count it or give its VMID away
    world.apply(next)
    world.vmNamed("LAB-kali").machine.power = "stopped"
    expect(keysOf(plan(world, config))).toEqual([])
    const later = plan(world, labConfig({ kali: null, spy: { vlan: 99, ip_last_octet: 6 } }))
    expect(later.allocations.map((a) => a.vmid)).not.toContain(vmid)
  })

  test("keeps the leg of a VLAN while a VM is on it that stays, whoever made that, and prunes it after", () => {
    const legs = (next: ReturnType<typeof plan>) => {
      const { action } = stepOf(next, `router:${routerName}`)
      return action.kind === "guest" && (action.input as { legs: readonly { vlan: number }[] }).legs.map((leg) => leg.vlan)
    }
    const config = labConfig({ kali: null })
    const stranger = deployed()
    stranger.add({ vmid: 900, name: "theirs", pool: lab })
    stranger.vms.get(900 as Vmid)!.detail.nics = [
      { index: 0, model: "virtio", mac: "02:00:00:00:00:01", bridge: "vmbr1007", tag: 20, firewall: false },
    ]
    const bare = labConfig({ kali: null, web: null, ws: null })
    expect(legs(plan(stranger, bare, { prune: true }))).toEqual([10, 20])
    expect(legs(plan(deployed(), config, { prune: true }))).toEqual([10, 20])
    expect(keysOf(plan(deployed(), config, { prune: true, limit: "LAB-web" }))).toEqual([])
    // a router that is created again gets legs for the VMs that stay
    const lost = deployed()
    lost.vms.delete(lost.vmNamed(routerName).detail.vmid)
    expect(legs(plan(lost, config))).toEqual([10, 20, 99])
  })

  test("leaves the cards that a person has put into a VM", () => {
    const world = deployed()
    const { detail } = world.vmNamed("LAB-web")
    const card = { index: 3, model: "e1000", mac: "02:00:00:00:00:07", bridge: "vmbr0", tag: undefined, firewall: true }
    detail.nics = [...detail.nics, card]
    expect(keysOf(plan(world, labConfig()))).toEqual([])
    const { action } = stepOf(plan(world, labConfig({ web: { vlan: 30 } })), "configure:LAB-web")
    expect(action.kind === "configure" && action.settings.nics[1]).toEqual(card)
    // a clone that has not been set up yet shows its template's cards
    world.stages.delete(detail.vmid)
    detail.nics = detail.nics.map((nic) => ({ ...nic, mac: `BC:24:11:00:00:0${nic.index}` }))
    const { action: first } = stepOf(plan(world, labConfig()), "configure:LAB-web")
    expect(first.kind === "configure" && first.settings.nics).toHaveLength(1)
  })

  test("leaves such cards also where no stage is on record: in an unmanaged VM, and after a rollback made in Proxmox", () => {
    const config = labConfig({ web: { unmanaged: true, roles: undefined }, kali: { roles: undefined } })
    const world = labWorld()
    world.apply(plan(world, config))
    const { detail } = world.vmNamed("LAB-web")
    expect(world.stages.get(detail.vmid)?.size ?? 0).toBe(0)
    const card = { index: 3, model: "e1000", mac: "02:00:00:00:00:07", bridge: "vmbr0", tag: undefined, firewall: true }
    detail.nics = [...detail.nics, card]
    expect(keysOf(plan(world, config))).toEqual([])
    const rolledBack = world.vmNamed("LAB-ws").detail
    rolledBack.nics = [...rolledBack.nics.map((nic) => ({ ...nic, mac: nic.mac.toLowerCase() })), card]
    world.stages.delete(rolledBack.vmid)
    expect(keysOf(plan(world, config))).not.toContain("configure:LAB-ws")
  })

  test("removes what the configuration no longer has when it is asked to, before another takes its address", () => {
    const world = deployed()
    const next = plan(world, labConfig({ kali: null, spy: { vlan: 99, ip_last_octet: 5 } }), { prune: true })
    expect(next.changes.find((c) => c.object === "LAB-kali")).toEqual({
      kind: "remove",
      object: "LAB-kali",
      reasons: ["no longer in the configuration"],
    })
    expect(isBefore(next, "delete:LAB-kali", "address:LAB-spy")).toBe(true)
    expect(isBefore(next, "delete:LAB-kali", "start:LAB-spy")).toBe(false)
  })

  test("is refused where a machine is to get the address of one that stays and runs", () => {
    const world = deployed()
    const taken = labConfig({ kali: null, spy: { vlan: 99, ip_last_octet: 5 } })
    expect(refusal(inputFor(world, taken))).toMatchObject([
      {
        code: "address-taken",
        message: expect.stringMatching(/^LAB-spy should get 10\.7\.99\.5, which LAB-kali \(VM \d+\) has/u),
      },
    ])
    expect(refusal(inputFor(world, taken, { prune: true, limit: "LAB-spy" }))).toMatchObject([{ code: "address-taken" }])
    // a VM that is off blocks nothing
    const { machine } = world.vmNamed("LAB-kali")
    machine.power = "stopped"
    expect(plan(world, taken).notes.join()).toContain("do not start both")
    // nor does one that claims the address of the machine that has it
    machine.power = "running"
    world.addresses.set(machine.vmid, "10.7.20.5")
    expect(keysOf(plan(world, labConfig({ kali: null, web: { cpus: 4 } })))).toContain("configure:LAB-web")
  })

  test("is refused where the router got another name and the old one stays", () => {
    const config = labConfig({}, { router: { vm_name: "{{ range_id }}-gate" } })
    expect(refusal(inputFor(deployed(), config))).toMatchObject([
      { code: "address-taken", message: expect.stringContaining("LAB-gate should get 192.0.2.107") },
    ])
    const next = plan(deployed(), config, { prune: true })
    expect(isBefore(next, `delete:${routerName}`, "router:LAB-gate")).toBe(true)
  })

  test("switches on what is off, and nothing else", () => {
    const world = deployed()
    world.vmNamed("LAB-kali").machine.power = "stopped"
    expect(keysOf(plan(world, labConfig()))).toEqual(["start:LAB-kali"])
  })

  test("runs a stage again when its input changed, and only that one", () => {
    const world = deployed()
    expect(keysOf(plan(world, labConfig({ kali: { linux: { packages: ["git", "vim"] } } })))).toEqual(["packages:LAB-kali"])
    const shared = planned(inputFor(world, labConfig(), {}, { grants: [] }))
    expect(keysOf(shared)).toEqual([`firewall:${routerName}`])
  })

  test("sets the address again when the guest was seen with another one", () => {
    const world = deployed()
    const { vmid } = world.vmNamed("LAB-web").detail
    world.addresses.set(vmid, "10.7.20.123")
    expect(keysOf(plan(world, labConfig()))).toEqual(["address:LAB-web"])
    world.addresses.set(vmid, "172.17.0.1")
    expect(keysOf(plan(world, labConfig()))).toEqual([])
  })

  test("finishes a VM that an interrupted run has cloned and not configured", () => {
    const world = labWorld()
    const config = labConfig()
    const first = plan(world, config)
    for (const key of ["pool", "network", "clone:LAB-web"]) world.run(stepOf(first, key))
    const next = keysOf(plan(world, config)).filter((k) => k.includes("LAB-web"))
    expect(next.slice(0, 2)).toEqual(["configure:LAB-web", "start:LAB-web"])
    expect(next).not.toContain("clone:LAB-web")
  })

  test("recognizes a VM without pool or name yet, or one taken out of the pool, by its reserved VMID and its mark", () => {
    const world = deployed()
    Object.assign(world.vmNamed("LAB-web").machine, { pool: undefined, name: undefined })
    expect(keysOf(plan(world, labConfig()))).toEqual([])
    world.vmNamed("LAB-web").detail.description = ""
    expect(keysOf(plan(world, labConfig()))).toContain("clone:LAB-web")
  })

  test("applies a VNet again that may be missing on a node with a machine of the range, and names only that node", () => {
    const world = labWorld({ nodes: ["pve1", "pve2", "pve3"] })
    const config = labConfig({}, { defaults: { target_node: "pve1" }, router: { target_node: "pve2" } })
    const inCluster = { settings: { ...settings, clusterMode: true } }
    world.apply(planned(inputFor(world, config, {}, inCluster)))
    const planWith = (...states: readonly ObservedZone["state"][]) => {
      const input = inputFor(world, config, {}, inCluster)
      const zones = states.map((state, i) => ({ zone: "ludus", node: `pve${i + 1}`, state }))
      return planned({ ...input, world: { ...input.world, cluster: { ...input.world.cluster, zones } } })
    }
    expect(keysOf(planWith("available", "available", "available"))).toEqual([])
    expect(keysOf(planWith("available", "available", "pending"))).toEqual([])
    const { steps, changes } = planWith("error", "pending", "available")
    expect(steps.map(({ action }) => action)).toEqual([
      { kind: "create-network", network: expect.objectContaining({ name: "r7" }), nodes: ["pve1", "pve2"] },
    ])
    expect(changes).toContainEqual({ kind: "change", object: "network r7", reasons: ["it may be missing on pve1, pve2"] })
  })

  test("applies a pending change of the network", () => {
    const world = deployed()
    world.networks.get("vmbr1007")!.usable = false
    expect(keysOf(plan(world, labConfig()))).toEqual(["network"])
  })

  test("keeps the tags that others have put on a VM", () => {
    const world = deployed()
    world.vmNamed("LAB-web").detail.tags = ["rangewright", "backup"]
    const { action } = stepOf(plan(world, labConfig({ web: { cpus: 8 } })), "configure:LAB-web")
    expect(action.kind === "configure" && action.settings.tags).toEqual(["backup", "rangewright"])
  })

  test("leaves a VM on its node and says that the configuration wants another", () => {
    const world = labWorld({ nodes: ["pve1", "pve2"] })
    const cluster = { settings: { ...settings, clusterMode: true } }
    world.apply(planned(inputFor(world, labConfig({ web: { target_node: "pve2" } }), {}, cluster)))
    const next = planned(inputFor(world, labConfig({ web: { target_node: "pve1" } }), {}, cluster))
    expect(next.steps).toEqual([])
    expect(next.notes).toEqual(["LAB-web is on pve2 but the configuration says pve1: existing VMs are not moved"])
  })

  test("says what is paused, locked or renamed", () => {
    const world = deployed()
    world.vmNamed("LAB-kali").machine.power = "paused"
    world.vmNamed("LAB-web").detail.lock = "backup"
    world.vmNamed("LAB-ws").detail.name = "mine"
    const vmid: Vmid = world.vmNamed("mine").detail.vmid
    expect(keysOf(plan(world, labConfig()))).toEqual([])
    expect(plan(world, labConfig()).notes).toEqual([
      `LAB-ws is named mine on the hypervisor (VM ${vmid})`,
      "LAB-web is locked on the hypervisor (backup)",
      "LAB-kali is paused: resume it on the hypervisor",
    ])
  })
})
