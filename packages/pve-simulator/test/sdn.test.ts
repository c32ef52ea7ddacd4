import { expect, test } from "vitest"
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

test("an apply ends OK though a node failed: its reload and its zones tell", async () => {
  const lab = createLab({ nodes: 3 })
  await zone(lab)
  lab.sim.faults.add({ kind: "network-reload-fails", node: "pve2", text: "error: vmbr0: port eno1 does not exist" })
  lab.sim.faults.add({ kind: "node-down", node: "pve3" })
  expect(await lab.task("PUT", "/cluster/sdn")).toBe("OK")
  const [reload] = (await lab.ok("GET", "/nodes/pve2/tasks?typefilter=srvreload")) as { status: string; user: string }[]
  expect(reload).toMatchObject({ status: "command 'ifreload -a' failed: exit code 1", user: "root@pam" })
  expect(await lab.ok("GET", "/nodes/pve1/sdn/zones")).toEqual([{ zone: "lab", status: "available" }])
  expect(await lab.ok("GET", "/nodes/pve2/sdn/zones")).toEqual([{ zone: "lab", status: "error" }])
})

test("an apply takes along what others left pending, and a rollback throws it away", async () => {
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
