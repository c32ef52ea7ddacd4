import { describe, expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

interface Row {
  readonly id: string
  readonly node?: string
  readonly status?: string
  readonly state?: string
  readonly quorate?: number
}

/** Three nodes, and a guest on the second that runs and whose agent answers. */
const withGuest = async (): Promise<Lab> => {
  const lab = createLab({ nodes: 3 })
  expect(await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 200, name: "guest", target: "pve2" })).toBe("OK")
  expect(await lab.task("POST", "/nodes/pve2/qemu/200/status/start")).toBe("OK")
  lab.clock.advance(60_000)
  return lab
}

const service = async (lab: Lab): Promise<Row | undefined> =>
  ((await lab.ok("GET", "/cluster/ha/status/current")) as readonly Row[]).find(({ id }) => id === "service:vm:200")
const guest = (lab: Lab) => ({
  node: lab.sim.guest(200)?.node,
  status: lab.sim.guest(200)?.status,
  boot: lab.sim.guest(200)?.boot.kind,
})

describe("a guest that is migrated", () => {
  test("continues on the other node, and the first one does not have it any more", async () => {
    const lab = await withGuest()
    const upid = String(await lab.ok("POST", "/nodes/pve2/qemu/200/migrate", { target: "pve3", online: 1 }))
    lab.clock.advance(1000)
    expect((await lab.call("PUT", "/nodes/pve2/qemu/200/config", { description: "x" })).message).toMatch(
      /can't lock file|locked \(migrate\)/u,
    )
    expect(await lab.settle(upid)).toBe("OK")
    expect(guest(lab)).toEqual({ node: "pve3", status: "running", boot: "up" })
    expect((await lab.call("GET", "/nodes/pve2/qemu/200/config")).message).toBe(
      "Configuration file 'nodes/pve2/qemu-server/200.conf' does not exist\n",
    )
    expect(await lab.ok("GET", "/nodes/pve3/qemu/200/status/current")).toMatchObject({ status: "running" })
  })

  test("stays where it is when the other node lacks its bridge or is down", async () => {
    const lab = await withGuest()
    lab.sim.state.nodes.get("pve3")!.interfaces.delete("vmbr1000")
    const migrate = async (target: string) => await lab.task("POST", "/nodes/pve2/qemu/200/migrate", { target, online: 1 })
    expect(await migrate("pve3")).toContain("bridge 'vmbr1000' does not exist")
    lab.sim.faults.add({ kind: "node-down", node: "pve1" })
    expect(await migrate("pve1")).toBe("migration aborted")
    expect(guest(lab)).toEqual({ node: "pve2", status: "running", boot: "up" })
  })
})

describe("a node without power", () => {
  test("ends its tasks and guests, and boots with the applied networks and the guests that start on boot", async () => {
    const lab = createLab({ nodes: 3, sdnZone: "ludus" })
    await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 200, target: "pve2" })
    await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 201, target: "pve2" })
    await lab.ok("PUT", "/nodes/pve2/qemu/201/config", { onboot: 1 })
    for (const vmid of [200, 201]) await lab.task("POST", `/nodes/pve2/qemu/${vmid}/status/start`)
    const upid = String(await lab.ok("POST", "/nodes/pve2/qemu/200/status/shutdown"))
    lab.clock.advance(1000)
    const off = lab.sim.faults.add({ kind: "node-off", node: "pve2" })
    expect((await lab.call("GET", "/nodes/pve2/qemu")).status).toBe(595)
    expect(((await lab.ok("GET", "/cluster/tasks")) as { upid: string }[]).map((task) => task.upid)).not.toContain(upid)
    await lab.ok("POST", "/cluster/sdn/vnets", { vnet: "r1", zone: "ludus", tag: 101 })
    await lab.task("PUT", "/cluster/sdn")
    lab.clock.advance(600_000)
    lab.sim.faults.remove(off)
    expect(await lab.ok("GET", `/nodes/pve2/tasks/${upid}/status`)).toMatchObject({ exitstatus: "unexpected status" })
    lab.clock.advance(10_000)
    expect([lab.sim.guest(200)?.status, lab.sim.guest(201)?.status]).toEqual(["stopped", "running"])
    expect(await lab.ok("GET", "/nodes/pve2/sdn/zones/ludus/content")).toContainEqual({ vnet: "r1", status: "available" })
    expect(((await lab.ok("GET", "/nodes/pve2/status")) as { uptime: number }).uptime).toBeLessThan(60)
  })

  test("in the midst of a clone leaves a locked machine behind", async () => {
    const lab = createLab({ nodes: 3 })
    await lab.ok("POST", "/nodes/pve1/qemu/101/clone", { newid: 200 })
    lab.clock.advance(2000)
    const off = lab.sim.faults.add({ kind: "node-off", node: "pve1" })
    lab.clock.advance(60_000)
    lab.sim.faults.remove(off)
    expect(lab.sim.guest(200)?.config["lock"]).toBe("clone")
    expect(await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 201 })).toBe("OK")
  })
})

describe("votes", () => {
  test("are lost with more than half of the nodes, and changes are refused until they are back; reads go on", async () => {
    const lab = createLab({ nodes: 3 })
    const down = ["pve2", "pve3"].map((node) => lab.sim.faults.add({ kind: "node-down", node }))
    expect((await lab.call("POST", "/pools", { poolid: "x" })).message).toBe("cluster not ready - no quorum?\n")
    expect((await lab.call("GET", "/pools")).status).toBe(200)
    expect(await lab.ok("GET", "/cluster/status")).toContainEqual(expect.objectContaining({ type: "cluster", quorate: 0 }))
    expect(await lab.ok("GET", "/cluster/ha/status/current")).toContainEqual(
      expect.objectContaining({ id: "quorum", quorate: 0 }),
    )
    lab.sim.faults.remove(down[0]!)
    expect((await lab.call("POST", "/pools", { poolid: "x" })).status).toBe(200)
  })

  test("do not matter to a single node", async () => {
    const lab = createLab()
    expect((await lab.call("POST", "/pools", { poolid: "x" })).status).toBe(200)
  })
})

describe("a guest with high availability", () => {
  const managed = async (): Promise<Lab> => {
    const lab = await withGuest()
    await lab.ok("POST", "/cluster/ha/resources", { sid: "vm:200", comment: "ours" })
    return lab
  }

  test("is shown as that, is configured, and is forgotten", async () => {
    const lab = await managed()
    expect(await lab.ok("GET", "/cluster/ha/resources")).toMatchObject([{ sid: "vm:200", state: "started", comment: "ours" }])
    expect(await lab.ok("GET", "/nodes/pve2/qemu/200/status/current")).toMatchObject({ ha: { managed: 1 } })
    expect(await lab.ok("GET", "/cluster/resources?type=vm")).toContainEqual(
      expect.objectContaining({ vmid: 200, hastate: "started" }),
    )
    expect((await lab.call("POST", "/cluster/ha/resources", { sid: "200" })).message).toContain("already defined")
    expect((await lab.call("POST", "/cluster/ha/resources", { sid: "vm:999" })).status).toBe(500)
    await lab.ok("PUT", "/cluster/ha/resources/vm:200", { state: "ignored", max_restart: 3, delete: "comment" })
    expect(await lab.ok("GET", "/cluster/ha/resources/vm:200")).toMatchObject({ state: "ignored", max_restart: 3 })
    await lab.ok("DELETE", "/cluster/ha/resources/vm:200")
    expect(await lab.ok("GET", "/cluster/ha/resources")).toEqual([])
    expect((await lab.call("GET", "/cluster/ha/resources/vm:200")).message).toBe("no such resource 'vm:200'\n")
  })

  test("is stopped and started by the manager: the call's task ends before the state follows", async () => {
    const lab = await managed()
    expect(await lab.task("POST", "/nodes/pve2/qemu/200/status/stop")).toBe("OK")
    expect(guest(lab).status).toBe("running")
    lab.clock.advance(30_000)
    expect([guest(lab).status, (await service(lab))?.state]).toEqual(["stopped", "stopped"])
    const upid = String(await lab.ok("POST", "/nodes/pve2/qemu/200/status/start"))
    expect(upid).toContain(":hastart:")
    await lab.settle(upid)
    expect(guest(lab).status).toBe("stopped")
    lab.clock.advance(60_000)
    expect([guest(lab).boot, (await service(lab))?.state]).toEqual(["up", "started"])
  })

  test("is moved by the manager, running or by way of a stop", async () => {
    const lab = await managed()
    expect(await lab.task("POST", "/nodes/pve2/qemu/200/migrate", { target: "pve3", online: 1 })).toBe("OK")
    lab.clock.advance(60_000)
    expect(guest(lab)).toEqual({ node: "pve3", status: "running", boot: "up" })
    await lab.ok("POST", "/cluster/ha/resources/vm:200/relocate", { node: "pve1" })
    lab.clock.advance(120_000)
    expect(guest(lab)).toEqual({ node: "pve1", status: "running", boot: "up" })
    await lab.ok("POST", "/cluster/ha/resources/vm:200/migrate", { node: "pve2" })
    lab.clock.advance(60_000)
    expect(guest(lab).node).toBe("pve2")
  })

  test("is not deleted without `purge`, and with it is no resource any more", async () => {
    const lab = await managed()
    await lab.ok("PUT", "/cluster/ha/resources/vm:200", { state: "stopped" })
    lab.clock.advance(30_000)
    expect((await lab.call("DELETE", "/nodes/pve2/qemu/200")).message).toContain("used in HA resources")
    expect(await lab.task("DELETE", "/nodes/pve2/qemu/200?purge=1")).toBe("OK")
    expect(await lab.ok("GET", "/cluster/ha/resources")).toEqual([])
  })

  test.each(["node-down", "node-off"] as const)(
    "on a node that is gone (%s) is started elsewhere after the fencing, and stays there",
    async (kind) => {
      const lab = await managed()
      await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 201, target: "pve2" })
      await lab.task("POST", "/nodes/pve2/qemu/201/status/start")
      lab.clock.advance(60_000)
      const gone = lab.sim.faults.add({ kind, node: "pve2" })
      lab.clock.advance(90_000)
      expect([guest(lab).node, (await service(lab))?.state]).toEqual(["pve2", "fence"])
      lab.clock.advance(90_000)
      expect(guest(lab)).toEqual({ node: "pve1", status: "running", boot: "up" })
      expect(lab.sim.guest(201)).toMatchObject({ node: "pve2", status: "stopped" })
      lab.sim.faults.remove(gone)
      lab.clock.advance(60_000)
      expect(guest(lab).node).toBe("pve1")
    },
  )

  test("is not moved while the votes are missing, nor when its node is back in time", async () => {
    const lab = await managed()
    const down = ["pve2", "pve3"].map((node) => lab.sim.faults.add({ kind: "node-down", node }))
    lab.clock.advance(600_000)
    expect(guest(lab).node).toBe("pve2")
    for (const id of down) lab.sim.faults.remove(id)
    const short = lab.sim.faults.add({ kind: "node-down", node: "pve2" })
    lab.clock.advance(60_000)
    lab.sim.faults.remove(short)
    lab.clock.advance(600_000)
    expect(guest(lab)).toEqual({ node: "pve2", status: "running", boot: "up" })
  })

  test("that cannot be started is given up after the second failure, until it is disabled", async () => {
    const lab = await managed()
    await lab.ok("PUT", "/cluster/ha/resources/vm:200", { state: "stopped" })
    lab.clock.advance(30_000)
    lab.sim.state.nodes.get("pve2")!.interfaces.delete("vmbr1000")
    await lab.ok("PUT", "/cluster/ha/resources/vm:200", { state: "started" })
    lab.clock.advance(600_000)
    expect((await service(lab))?.state).toBe("error")
    const starts = [...lab.sim.state.tasks.values()].filter(({ type, exitstatus }) => type === "qmstart" && exitstatus !== "OK")
    expect(starts).toHaveLength(2)
    expect((await lab.call("PUT", "/cluster/ha/resources/vm:200", { state: "started" })).message).toContain("error state")
    await lab.ok("PUT", "/cluster/ha/resources/vm:200", { state: "disabled" })
    expect((await service(lab))?.state).toBe("stopped")
  })
})

test("a saved state has the high availability resources, and an older one has none", async () => {
  const lab = await withGuest()
  const before = JSON.parse(lab.sim.save()) as { state: { ha?: unknown } }
  delete before.state.ha
  await lab.ok("POST", "/cluster/ha/resources", { sid: "vm:200" })
  const saved = lab.sim.save()
  lab.sim.restore(JSON.stringify(before))
  expect(await lab.ok("GET", "/cluster/ha/resources")).toEqual([])
  lab.sim.restore(saved)
  expect(await lab.ok("GET", "/cluster/ha/resources")).toMatchObject([{ sid: "vm:200" }])
})
