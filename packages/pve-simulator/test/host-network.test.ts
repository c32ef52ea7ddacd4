import { describe, expect, test } from "vitest"
import { createManualClock, createSimulator, type Simulator } from "../src/index.ts"
import { createLab } from "./support/client.ts"

const node = "pve1"
const makeCluster = (): Simulator => createSimulator({ nodes: 2, clock: createManualClock(), sdnZone: "ludus" })
const run = (sim: Simulator, line: string, input?: string) => sim.command(node, line.split(" "), input)
const seen = async (sim: Simulator, what: "address" | "route"): Promise<unknown> =>
  JSON.parse((await run(sim, `ip -json -4 ${what} show`)).stdout)

const stanza = [
  "iface ludusnat inet static",
  "\taddress 192.0.2.254/24",
  "\tpost-up ip route replace 10.7.0.0/16 via 192.0.2.107 dev ludusnat",
  "",
].join("\n")

describe("a node's own network", () => {
  test("shows the configured addresses, and manual ones can be added and removed", async () => {
    const sim = makeCluster()
    const of = async (ifname: string) =>
      ((await seen(sim, "address")) as { readonly ifname: string; readonly addr_info: readonly unknown[] }[]).find(
        (link) => link.ifname === ifname,
      )?.addr_info
    expect(await of("vmbr1000")).toEqual([{ family: "inet", local: "192.0.2.254", prefixlen: 24 }])
    expect(await run(sim, "ip address replace 192.0.2.254/24 dev ludusnat")).toMatchObject({ exitCode: 0 })
    expect(await run(sim, "ip address flush dev vmbr1000 to 192.0.2.254/32")).toMatchObject({ exitCode: 0 })
    expect(await of("ludusnat")).toHaveLength(1)
    expect(await of("vmbr1000")).toEqual([])
    expect(await run(sim, "ip address replace 10.0.0.1/24 dev none")).toMatchObject({ exitCode: 1 })
  })

  test("accepts a route only through a device whose network has the router", async () => {
    const sim = makeCluster()
    expect(await run(sim, "ip route replace 10.7.0.0/16 via 192.0.2.107 dev ludusnat")).toMatchObject({ exitCode: 2 })
    expect(await run(sim, "ip route replace 10.7.0.0/16 via 192.0.2.107 dev vmbr1000")).toMatchObject({ exitCode: 0 })
    expect(await run(sim, "ip route replace 192.0.2.107/32 dev vmbr1000")).toMatchObject({ exitCode: 0 })
    expect(await seen(sim, "route")).toEqual([
      { dst: "10.7.0.0/16", gateway: "192.0.2.107", dev: "vmbr1000" },
      { dst: "192.0.2.107", dev: "vmbr1000" },
    ])
  })

  test("keeps files, which a boot or a reload applies; manual settings are dropped", async () => {
    const sim = makeCluster()
    await run(sim, "dd of=/etc/network/interfaces.d/.lab conv=fsync status=none", stanza)
    await run(sim, "mv -f /etc/network/interfaces.d/.lab /etc/network/interfaces.d/lab")
    await run(sim, "ip route replace 10.9.0.0/16 via 192.0.2.109 dev vmbr1000")
    expect(await run(sim, "find /etc/network/interfaces.d -maxdepth 1 -type f -name l*")).toMatchObject({
      stdout: "/etc/network/interfaces.d/lab\n",
    })
    expect((await run(sim, "cat /etc/network/interfaces.d/lab")).stdout).toBe(stanza)
    const saved = sim.save()
    for (const world of [sim, createSimulator({ nodes: 2, clock: createManualClock() })]) {
      world.restore(saved)
      world.faults.remove(world.faults.add({ kind: "node-off", node }))
      expect(await seen(world, "route")).toEqual([{ dst: "10.7.0.0/16", gateway: "192.0.2.107", dev: "ludusnat" }])
    }
    await run(sim, "rm -f /etc/network/interfaces.d/lab")
    sim.faults.remove(sim.faults.add({ kind: "node-off", node }))
    expect(await seen(sim, "route")).toEqual([])
  })

  test("is unreachable while the node is down", async () => {
    const sim = makeCluster()
    sim.faults.add({ kind: "node-down", node })
    await expect(run(sim, "hostname")).rejects.toThrow("no route to pve1")
  })
})

test("a VLAN-aware bridge has all VLANs, and exists after the reload", async () => {
  const lab = createLab()
  const read = async () => await lab.ok("GET", "/nodes/pve/network/vmbr7")
  await lab.ok("POST", "/nodes/pve/network", { iface: "vmbr7", type: "bridge", autostart: 1, bridge_vlan_aware: 1 })
  expect(await read()).toMatchObject({ bridge_vids: "2-4094" })
  expect(await read()).not.toHaveProperty("active")
  await lab.task("PUT", "/nodes/pve/network")
  expect(await read()).toMatchObject({ active: 1, bridge_vids: "2-4094" })
  await lab.ok("PUT", "/nodes/pve/network/vmbr7", { type: "bridge", bridge_vids: "2-100" })
  expect(await read()).toMatchObject({ bridge_vids: "2-100" })
  expect(await lab.ok("GET", "/nodes/pve/network/vmbr1000")).toMatchObject({ bridge_vids: "2-4094", active: 1 })
})
