import * as Result from "effect/Result"
import { describe, expect, test } from "vitest"
import { CannotPlan, driftOf, writeDescription, type RangeId, type Vmid } from "../src/index.ts"
import { labConfig, labTemplates, labWorld, routerName } from "./plan-lab.ts"
import { inputFor, keysOf, lab, planned, refusal, settings } from "./plan-model.ts"

const messages = (issues: readonly { readonly message: string }[]): readonly string[] => issues.map((i) => i.message)
const cluster = { settings: { ...settings, clusterMode: true } }

describe("a deploy is refused", () => {
  test("with every missing template at once", () => {
    const world = labWorld({ templates: ["debian"] })
    const issues = refusal(inputFor(world, labConfig()))
    expect(messages(issues)).toEqual(["the templates debian-11-x64-server-template, win-client, win-server are not built"])
    expect(new CannotPlan({ doing: "deploy range LAB", issues })).toMatchObject({
      kind: "precondition",
      message: `Cannot deploy range LAB: ${issues[0]?.message}`,
      hint: expect.stringMatching(
        /^Build what is missing with POST \/templates \{"templates":\[".+"\]\}, or use other templates/u,
      ),
    })
  })

  test("for a VM of the same name in the range's pool that is not ours, whatever its case", () => {
    const world = labWorld()
    world.add({ vmid: 555, name: "lab-WEB", pool: lab })
    world.add({
      vmid: 556,
      name: "LAB-kali",
      pool: lab,
      description: writeDescription({ range: "SECRET" as RangeId, machine: "LAB-kali" }, []),
    })
    expect(messages(refusal(inputFor(world, labConfig())))).toEqual([
      "a VM named LAB-web is in the pool LAB (VM 555 on pve1) and does not carry our mark for it",
      "a VM named LAB-kali is in the pool LAB (VM 556 on pve1) and does not carry our mark for it",
    ])
  })

  test("not for VMs of the same names elsewhere, whatever they say of themselves", () => {
    const world = labWorld()
    const plain = keysOf(planned(inputFor(labWorld(), labConfig())))
    const description = writeDescription({ range: lab, machine: "LAB-web" }, [])
    world.add({ vmid: 555, name: "LAB-web", pool: "OTHER", description })
    world.add({ vmid: 556, name: routerName, description })
    world.add({ vmid: 557, name: "LAB-dc", pool: "OTHER", template: true })
    const found = planned(inputFor(world, labConfig()))
    expect(keysOf(found)).toEqual(plain)
    expect(JSON.stringify(found)).not.toMatch(/OTHER|555|556|557/u)
    world.apply(found)
    expect(keysOf(planned(inputFor(world, labConfig())))).toEqual([])
  })

  test("for a name that begins with another range's ID, unless the machine is there", () => {
    const world = labWorld()
    const config = labConfig({ web: { vm_name: "SHOP-web" }, kali: { vm_name: "LAB-2-kali" } })
    const others = (younger: boolean) => ({
      otherRanges: ["SHOP", "LAB-2", "LAB-router"].map((id) => ({ id: id as RangeId, younger })),
    })
    const input = (younger: boolean) => {
      const known = inputFor(world, config)
      return { ...known, world: { ...known.world, ...others(younger) } }
    }
    const text = (name: string) => `the name ${name} begins with the ID of another range`
    expect(messages(refusal(input(false)))).toEqual([text("SHOP-web"), text("LAB-2-kali")])
    // a range that is created later cannot take LAB-… from LAB
    expect(messages(refusal(input(true)))).toEqual([text("SHOP-web")])
    world.apply(planned(inputFor(world, config)))
    expect(keysOf(planned(input(false)))).toEqual([])
  })

  test("for a template that another range's users made, as if it were not there", () => {
    const world = labWorld({ templates: labTemplates.filter((name) => name !== "debian") })
    world.add({ vmid: 90, name: "debian", pool: "OTHER", template: true, storage: "vmstore" })
    const known = inputFor(world, labConfig())
    const otherRanges = [{ id: "OTHER" as RangeId, younger: false }]
    expect(messages(refusal({ ...known, world: { ...known.world, otherRanges } }))).toEqual(["the template debian is not built"])
    // nor is one of two that are named alike taken from there
    const both = labWorld()
    both.add({ vmid: 90, name: "debian", pool: "OTHER", template: true, storage: "vmstore" })
    const two = inputFor(both, labConfig())
    const { steps } = planned({ ...two, world: { ...two.world, otherRanges } })
    expect(steps.flatMap(({ action }) => (action.kind === "clone" ? [action.template.vmid] : []))).not.toContain(90)
  })

  test("for a machine on a node that is offline, unless the limit leaves it out", () => {
    const world = labWorld({ nodes: ["pve1", "pve2"] })
    const config = labConfig({ web: { target_node: "pve2" } }, { defaults: undefined })
    const pinned = labConfig({ web: { target_node: "pve2" }, dc: { target_node: "pve1" } })
    world.apply(planned(inputFor(world, pinned, {}, cluster)))
    const { vmid } = world.vmNamed("LAB-web").detail
    world.nodes = world.nodes.map((n) => ({ ...n, online: n.name !== "pve2" }))
    const onPve2 = [...world.vms.values()].filter((v) => v.machine.node === "pve2").map((v) => v.detail.name)
    const issues = refusal(inputFor(world, config, {}, cluster))
    expect(messages(issues)).toContain(`LAB-web (VM ${vmid}) is on the node pve2, which is offline`)
    expect(issues).toHaveLength(onPve2.length)
    const rest = planned(inputFor(world, config, { limit: ["all", ...onPve2.map((n) => `!${n}`)].join(",") }, cluster))
    expect(keysOf(rest)).toEqual([])
    expect(rest.notes).toContain(`LAB-web (VM ${vmid}) is on the node pve2, which is offline`)
  })

  test("for a target node that does not exist, is offline, or does not see the template", () => {
    const world = labWorld({ nodes: ["pve1", "pve2", "pve3"], shared: false })
    world.nodes = world.nodes.map((n) => ({ ...n, online: n.name !== "pve3" }))
    const config = labConfig(
      { web: { target_node: "pve9" }, kali: { target_node: "pve3" }, dc: { target_node: "pve1" }, dc2: null, ws: null },
      { router: { target_node: "pve1" } },
    )
    const issues = refusal(inputFor(world, config, {}, cluster))
    expect(issues.map((i) => i.code)).toEqual(["template-out-of-reach", "node-missing", "node-offline"])
    expect(messages(issues)).toEqual([
      "win-server cannot be cloned to pve1 for LAB-dc: it is on pve2, and its disk is not on shared storage",
      "LAB-web requires the node pve9, which does not exist",
      "LAB-kali requires the node pve3, which is offline",
    ])
  })

  test("for a network of the same name that is not ours", () => {
    const world = labWorld()
    world.networks.set("vmbr1007", { name: "vmbr1007", node: "pve1", usable: true, ours: false })
    expect(messages(refusal(inputFor(world, labConfig())))).toEqual(["the network vmbr1007 exists and is not ours"])
    world.networks.set("vmbr1007", { name: "vmbr1007", node: "pve2", usable: true, ours: false })
    expect(keysOf(planned(inputFor(world, labConfig())))).toContain("network")
  })

  test("when no node is up, or a machine has no reserved VMID", () => {
    const world = labWorld()
    const input = inputFor(world, labConfig())
    expect(messages(refusal({ ...input, world: { ...input.world, reservations: new Map() } }))[1]).toBe(
      "no VMID is reserved for LAB-dc",
    )
    world.nodes = world.nodes.map((n) => ({ ...n, online: false }))
    expect(messages(refusal(inputFor(world, labConfig())))).toEqual(["no node of the hypervisor is up"])
  })
})

describe("what is not ours in the range's pool", () => {
  test("stays, and is named: strangers, and copies that somebody made of our VMs", () => {
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    const web = world.vmNamed("LAB-web")
    world.add({ vmid: 300, name: "Copy-of-VM-LAB-web", pool: lab, description: web.detail.description })
    world.add({ vmid: 301, name: "helper", pool: lab, power: "running" })
    world.add({ vmid: 302, name: "Copy-of-VM-LAB-gone", pool: lab, template: true })
    const { steps, notes } = planned(inputFor(world, labConfig()))
    expect(steps).toEqual([])
    expect(notes).toEqual(
      [
        "helper (VM 301) is in the range's pool and is never changed: it does not carry our mark",
        "Copy-of-VM-LAB-gone (VM 302) is in the range's pool and is never changed: it is a template",
        `Copy-of-VM-LAB-web (VM 300) is in the range's pool and is never changed: it is a copy of LAB-web (VM ${web.detail.vmid}), mark included`,
      ].toSorted((a, b) => notes.indexOf(a) - notes.indexOf(b)),
    )
    expect(notes).toHaveLength(3)
  })

  test("and is only a copy, even with the same name and a lower VMID: the VM with the reserved VMID is the machine", () => {
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    const web = world.vmNamed("LAB-web").detail
    world.add({ vmid: 150, name: "LAB-web", pool: lab, description: web.description })
    expect(planned(inputFor(world, labConfig()))).toMatchObject({
      steps: [],
      notes: [
        `LAB-web (VM 150) is in the range's pool and is never changed: it is a copy of LAB-web (VM ${web.vmid}), mark included`,
      ],
    })
  })

  test("and is a copy of a VM that is gone is neither taken for the machine nor removed with it", () => {
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    const { vmid, description } = world.vmNamed("LAB-kali").detail
    world.vms.delete(vmid)
    world.add({ vmid: 300, name: "my-kali", pool: lab, description })
    const note =
      "my-kali (VM 300) is in the range's pool and is never changed: it carries the mark of LAB-kali, but has neither that machine's name nor its VMID"
    const again = planned(inputFor(world, labConfig()))
    expect(keysOf(again)).toContain("clone:LAB-kali")
    expect(again.notes).toContain(note)
    const without = planned(inputFor(world, labConfig({ kali: null })))
    expect(without.notes).toContain(note)
    expect(without.steps.map((s) => s.machine)).not.toContain("LAB-kali")
  })

  test("does not include a VM with our mark and a machine's name whose VMID is no longer reserved", () => {
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    world.reservations.clear()
    world.reservations.set("LAB-unrelated", 777 as Vmid)
    expect(planned(inputFor(world, labConfig()))).toMatchObject({ steps: [], notes: [] })
  })

  test("a reserved VMID that is taken gets a note", () => {
    const world = labWorld()
    const input = inputFor(world, labConfig())
    world.add({ vmid: world.reservations.get("LAB-web")!, name: "thief" })
    const vmid = world.reservations.get("LAB-web")
    expect(planned({ ...input, world: world.view() }).notes).toEqual([
      `VMID ${vmid}, reserved for LAB-web, is in use: another one will be chosen`,
    ])
  })
})

describe("drift", () => {
  test("is what a deploy would change, and nothing right after one", () => {
    const world = labWorld()
    world.apply(planned(inputFor(world, labConfig())))
    const drift = () => Result.getOrThrow(driftOf(inputFor(world, labConfig())))
    expect(drift()).toEqual({ inSync: true, differences: [], kept: [], notes: [] })
    world.vmNamed("LAB-web").detail.cpus = 7
    world.vmNamed(routerName).machine.power = "stopped"
    expect(drift()).toMatchObject({
      inSync: false,
      differences: [
        { kind: "change", object: routerName, reasons: ["power on"] },
        { kind: "change", object: "LAB-web", reasons: ["cores 7 -> 2", "restart"] },
      ],
    })
  })
})
