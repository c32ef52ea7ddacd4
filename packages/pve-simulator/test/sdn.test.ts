import { describe, expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const zone = async (lab: Lab) =>
  await lab.ok("POST", "/cluster/sdn/zones", { type: "vxlan", zone: "lab", peers: "10.0.0.11,10.0.0.12" })
const vnet = async (lab: Lab, id: string, tag: number) =>
  await lab.ok("POST", "/cluster/sdn/vnets", { vnet: id, zone: "lab", tag, vlanaware: 1 })

test("edits do nothing until they are applied; then every node has the bridge and guests start on it", async () => {
  const lab = createLab({ nodes: 2 })
  await zone(lab)
  await vnet(lab, "r7", 1007)
  await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 200 })
  await lab.ok("PUT", "/nodes/pve1/qemu/200/config", { net0: "virtio,bridge=r7,tag=10" })
  expect(await lab.ok("GET", "/cluster/sdn/vnets?pending=1")).toMatchObject([
    { vnet: "r7", state: "new", pending: { tag: 1007, zone: "lab" } },
  ])
  expect(await lab.task("POST", "/nodes/pve1/qemu/200/status/start")).toBe("bridge 'r7' does not exist")
  const from = lab.clock.now()
  expect(await lab.task("PUT", "/cluster/sdn")).toBe("OK")
  expect(lab.clock.now() - from).toBe(4000)
  expect(await lab.ok("GET", "/nodes/pve2/sdn/zones")).toEqual([{ zone: "lab", status: "available" }])
  expect(await lab.ok("GET", "/nodes/pve2/sdn/zones/lab/content")).toEqual([{ vnet: "r7", status: "available" }])
  expect(await lab.ok("GET", "/cluster/sdn/vnets?running=1")).toMatchObject([{ vnet: "r7", tag: 1007, vlanaware: 1 }])
  expect(await lab.task("POST", "/nodes/pve1/qemu/200/status/start")).toBe("OK")
  lab.clock.advance(30_000)
  expect(JSON.stringify(await lab.ok("GET", "/nodes/pve1/qemu/200/agent/network-get-interfaces"))).toContain('"10.7.10.100"')
})

const statesOf = async (lab: Lab, node: string) => ({
  zones: await lab.ok("GET", `/nodes/${node}/sdn/zones`),
  vnets: await lab.ok("GET", `/nodes/${node}/sdn/zones/lab/content`),
  seen: ((await lab.ok("GET", "/cluster/resources?type=sdn")) as { node: string; sdn?: string; status: string }[]).flatMap(
    (row) => (row.node === node && row.sdn === "lab" ? [row.status] : []),
  ),
})
const whole = { zones: [{ zone: "lab", status: "available" }], vnets: [{ vnet: "r1", status: "available" }], seen: ["ok"] }

/** A guest of that node with its card on VNet r1. */
const guestOn = async (lab: Lab, node: string): Promise<void> => {
  await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 200, target: node })
  await lab.ok("PUT", `/nodes/${node}/qemu/200/config`, { net0: "virtio,bridge=r1,tag=10" })
}

describe("an apply that a node", () => {
  test("cannot carry out ends OK: the node's reload, zones and VNets show it, guests do not start there, and another apply fixes it", async () => {
    const lab = createLab({ nodes: 2 })
    await zone(lab)
    await vnet(lab, "r1", 1001)
    const failing = lab.sim.faults.add({ kind: "network-reload-fails", node: "pve2", text: "error: vmbr0: port eno1 is missing" })
    const upid = String(await lab.ok("PUT", "/cluster/sdn"))
    expect((await statesOf(lab, "pve1")).zones).toEqual([{ zone: "lab", status: "pending" }])
    expect(await lab.settle(upid)).toBe("OK")
    const [reload] = (await lab.ok("GET", "/nodes/pve2/tasks?typefilter=srvreload")) as { status: string; user: string }[]
    expect(reload).toMatchObject({ status: "command 'ifreload -a' failed: exit code 1", user: "root@pam" })
    expect(await statesOf(lab, "pve1")).toEqual(whole)
    expect(await statesOf(lab, "pve2")).toMatchObject({
      zones: [{ status: "error" }],
      vnets: [{ vnet: "r1", status: "error", statusmsg: expect.stringContaining("is not generated") }],
      seen: ["error"],
    })
    await guestOn(lab, "pve2")
    expect(await lab.task("POST", "/nodes/pve2/qemu/200/status/start")).toBe("bridge 'r1' does not exist")
    lab.sim.faults.remove(failing)
    expect(await lab.task("PUT", "/cluster/sdn")).toBe("OK")
    expect(await statesOf(lab, "pve2")).toEqual(whole)
    expect(await lab.task("POST", "/nodes/pve2/qemu/200/status/start")).toBe("OK")
  })

  test.each([
    ["the next apply", "PUT", "/cluster/sdn"],
    ["a reload of its own", "PUT", "/nodes/pve2/network"],
  ])("was unreachable for is missed there, also of what it had, until %s", async (_, method, path) => {
    const lab = createLab({ nodes: 3 })
    await zone(lab)
    await vnet(lab, "r1", 1001)
    await lab.task("PUT", "/cluster/sdn")
    const down = lab.sim.faults.add({ kind: "node-down", node: "pve2" })
    await vnet(lab, "r2", 1002)
    await lab.task("PUT", "/cluster/sdn")
    expect(((await lab.ok("GET", "/cluster/resources?type=sdn")) as { id: string }[]).map(({ id }) => id)).not.toContain(
      "sdn/pve2/lab",
    )
    lab.sim.faults.remove(down)
    lab.clock.advance(60_000)
    const { zones, vnets, seen } = await statesOf(lab, "pve2")
    expect([zones, seen]).toEqual([[{ zone: "lab", status: "pending" }], ["pending"]])
    const words = "local sdn network configuration is too old, please reload"
    expect(vnets).toEqual(["r1", "r2"].map((id) => ({ vnet: id, status: "pending", statusmsg: words })))
    await guestOn(lab, "pve2")
    expect(await lab.task("POST", "/nodes/pve2/qemu/200/status/start")).toBe("OK")
    await lab.task("POST", "/nodes/pve2/qemu/200/status/stop")
    await lab.ok("PUT", "/nodes/pve2/qemu/200/config", { net1: "virtio,bridge=r2" })
    expect(await lab.task("POST", "/nodes/pve2/qemu/200/status/start")).toBe("bridge 'r2' does not exist")
    expect(await lab.task(method, path)).toBe("OK")
    expect((await statesOf(lab, "pve2")).zones).toEqual(whole.zones)
    expect(await lab.task("POST", "/nodes/pve2/qemu/200/status/start")).toBe("OK")
    expect(await lab.ok("GET", "/nodes/pve2/sdn/zones/lab/bridges")).toEqual([
      {
        name: "r1",
        vlan_filtering: "1",
        ports: [{ name: "tap200i0", index: "net0", vmid: 200, primary_vlan: 10 }],
      },
      { name: "r2", vlan_filtering: "1", ports: [{ name: "tap200i1", index: "net1", vmid: 200 }] },
    ])
  })

  test("cannot carry out once is fixed by the next", async () => {
    const lab = createLab({ nodes: 2 })
    await zone(lab)
    await vnet(lab, "r1", 1001)
    lab.sim.faults.add({ kind: "network-reload-fails", node: "pve2", text: "error: busy", times: 1 })
    await lab.task("PUT", "/cluster/sdn")
    expect((await statesOf(lab, "pve2")).seen).toEqual(["error"])
    await lab.task("PUT", "/cluster/sdn")
    expect(await statesOf(lab, "pve2")).toEqual(whole)
    expect(lab.sim.faults.list()).toEqual([])
  })

  test("missed while it was unreachable takes effect at its next boot", async () => {
    const lab = createLab({ nodes: 3 })
    await zone(lab)
    await vnet(lab, "r1", 1001)
    const off = lab.sim.faults.add({ kind: "node-off", node: "pve3" })
    await lab.task("PUT", "/cluster/sdn")
    lab.sim.faults.remove(off)
    expect(await statesOf(lab, "pve3")).toEqual(whole)
  })

  test("does not belong to does not affect it: it has neither the zone nor its VNets", async () => {
    const lab = createLab({ nodes: 2 })
    await lab.ok("POST", "/cluster/sdn/zones", { type: "simple", zone: "one", nodes: "pve1" })
    await lab.ok("POST", "/cluster/sdn/vnets", { vnet: "vn1", zone: "one" })
    await lab.task("PUT", "/cluster/sdn")
    expect(await lab.ok("GET", "/nodes/pve2/sdn/zones")).toEqual([])
    expect((await lab.call("GET", "/nodes/pve2/sdn/zones/one/content")).status).toBe(500)
    expect(await lab.ok("GET", "/nodes/pve1/sdn/zones")).toEqual([{ zone: "one", status: "available" }])
  })
})

test("in a state from before nodes stored their SDN version, all nodes have the applied one", async () => {
  const lab = createLab({ nodes: 2, sdnZone: "lab" })
  lab.sim.restore(lab.sim.save().replaceAll(/"sdnVersion":\d+,?/gu, ""))
  expect(await lab.ok("GET", "/nodes/pve2/sdn/zones")).toEqual([{ zone: "lab", status: "available" }])
})

test("an apply includes pending changes of others, and a rollback discards them", async () => {
  const lab = createLab()
  await zone(lab)
  await vnet(lab, "r1", 1001)
  await vnet(lab, "r2", 1002)
  expect(await lab.task("PUT", "/cluster/sdn")).toBe("OK")
  expect(lab.sim.state.nodes.get("pve")?.vnets).toEqual(new Set(["r1", "r2"]))
  await lab.ok("DELETE", "/cluster/sdn/vnets/r1")
  await lab.ok("POST", "/cluster/sdn/rollback")
  expect(await lab.ok("GET", "/cluster/sdn/vnets")).toMatchObject([{ vnet: "r1" }, { vnet: "r2" }])
})

test("while the configuration is locked only the holder of the token writes; an apply gives the lock back", async () => {
  const lab = createLab()
  const token = await lab.ok("POST", "/cluster/sdn/lock")
  const create = async (parameters: Record<string, unknown>) =>
    await lab.call("POST", "/cluster/sdn/zones", { type: "simple", zone: "one", ...parameters })
  expect((await create({})).message).toContain("invalid lock token provided!")
  expect((await create({ "lock-token": token })).status).toBe(200)
  expect((await lab.call("POST", "/cluster/sdn/lock", { "allow-pending": 1 })).status).toBe(500)
  expect((await lab.call("PUT", "/cluster/sdn")).message).toContain("invalid lock token provided!")
  expect((await lab.call("PUT", "/cluster/sdn", { "lock-token": token })).status).toBe(200)
  expect((await lab.call("DELETE", "/cluster/sdn/zones/one")).status).toBe(200)
})

test("a VNet that passes VLANs has no subnets, and tags are unique over all overlays", async () => {
  const lab = createLab()
  await zone(lab)
  await vnet(lab, "r1", 1001)
  expect((await lab.call("POST", "/cluster/sdn/vnets/r1/subnets", { subnet: "10.1.0.0/16", type: "subnet" })).message).toContain(
    "you can't add a subnet on a vlanaware vnet",
  )
  expect((await lab.call("POST", "/cluster/sdn/vnets", { vnet: "r2", zone: "lab", tag: 1001 })).message).toContain(
    "vxlan tag 1001 already exist in vnet r1 in zone lab",
  )
})

test("a cluster that comes with a zone has it applied on every node, with the NAT network's VNet, and nothing pending", async () => {
  const lab = createLab({ nodes: 2, sdnZone: "ludus" })
  expect(await lab.ok("GET", "/nodes/pve2/sdn/zones")).toEqual([{ zone: "ludus", status: "available" }])
  expect(await lab.ok("GET", "/nodes/pve2/sdn/zones/ludus/content")).toEqual([{ vnet: "ludusnat", status: "available" }])
  expect(await lab.ok("GET", "/cluster/sdn/vnets?pending=1")).toMatchObject([{ vnet: "ludusnat", tag: 16_777_215 }])
  expect(await lab.ok("GET", "/cluster/sdn/vnets?pending=1")).not.toMatchObject([{ state: expect.anything() }])
  await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 200 })
  await lab.ok("PUT", "/nodes/pve1/qemu/200/config", { net0: "virtio,bridge=ludusnat" })
  expect(await lab.task("POST", "/nodes/pve1/qemu/200/status/start")).toBe("OK")
})
