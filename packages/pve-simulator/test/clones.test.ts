import { expect, test } from "vitest"
import { createLab } from "./support/client.ts"

const DEBIAN = 101

test("four linked clones at once take little more than one; a thirteenth meets the storage's lock", async () => {
  const lab = createLab()
  const upids: string[] = []
  for (let i = 0; i < 16; i += 1) upids.push(String(await lab.ok("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200 + i })))
  const begun = lab.clock.now()
  const ends = new Map<string, number>()
  for (const upid of upids) ends.set(upid, (await lab.settle(upid), lab.sim.state.tasks.get(upid)!.endtime! * 1000 - begun))
  const status = upids.map((upid) => lab.sim.state.tasks.get(upid)?.exitstatus)
  expect(status.filter((text) => text === "OK")).toHaveLength(12)
  expect(new Set(status.filter((text) => text !== "OK"))).toEqual(
    new Set(["clone failed: can't lock file '/var/lock/pve-manager/pve-storage-local-lvm' - got timeout"]),
  )
  expect(upids.slice(0, 4).map((upid) => ends.get(upid))).toEqual([4000, 4000, 5000, 5000])
  for (const guest of lab.sim.state.guests.values()) expect(guest.config["lock"]).toBeUndefined()
  expect([...lab.sim.state.guests.keys()].filter((vmid) => vmid >= 200)).toHaveLength(12)
})

test("a queue of four clones meets no lock", async () => {
  const lab = createLab({ nodes: 2 })
  const waiting = Array.from({ length: 20 }, (_, i) => 300 + i)
  const worker = async () => {
    for (let newid = waiting.shift(); newid !== undefined; newid = waiting.shift()) {
      expect(await lab.task("POST", `/nodes/pve1/qemu/${DEBIAN}/clone`, { newid, target: "pve2" })).toBe("OK")
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  expect(lab.sim.guest(319)?.node).toBe("pve2")
})

test("nextid reserves nothing: of two clones with one id both are accepted and one ends in failure", async () => {
  const lab = createLab()
  const id = await lab.ok("GET", "/cluster/nextid")
  expect(id).toBe("105")
  const upids = [
    await lab.ok("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: id }),
    await lab.ok("POST", `/nodes/pve/qemu/102/clone`, { newid: id }),
  ]
  const ends = [await lab.settle(String(upids[0])), await lab.settle(String(upids[1]))]
  expect(ends[0]).toBe("OK")
  expect(ends[1]).toBe("can't lock file '/var/lock/qemu-server/lock-105.conf' - got timeout")
  expect((await lab.call("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: id })).message).toBe(
    "unable to create VM 105: config file already exists\n",
  )
})

test("a clone is a new machine: own disks, cards and identity, the name it was given, no template", async () => {
  const lab = createLab()
  await lab.task("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200, name: "web", pool: "SHARED" })
  const source = lab.sim.guest(DEBIAN)!.config
  const clone = lab.sim.guest(200)!.config
  expect(clone).toMatchObject({
    name: "web",
    memory: "4096",
    cores: 2,
    virtio0: "local-lvm:vm-200-disk-0,discard=on,iothread=1,size=200G",
  })
  expect(clone["template"]).toBeUndefined()
  for (const key of ["net0", "smbios1", "vmgenid"]) expect(clone[key], key).not.toBe(source[key])
  expect(lab.sim.state.pools.get("SHARED")?.vms.has(200)).toBe(true)
})

test("a full clone copies what is used, its source cannot be changed meanwhile, and another clone may start", async () => {
  const lab = createLab()
  const upid = String(await lab.ok("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200, full: 1 }))
  lab.clock.advance(1000)
  expect(await lab.ok("GET", "/nodes/pve/qemu/200/status/current")).toMatchObject({ lock: "clone" })
  const blocked = await lab.call("PUT", `/nodes/pve/qemu/${DEBIAN}/config`, { description: "x" })
  expect(blocked).toMatchObject({
    status: 500,
    message: `can't lock file '/var/lock/qemu-server/lock-${DEBIAN}.conf' - got timeout\n`,
  })
  expect(await lab.task("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 201 })).toBe("OK")
  expect(await lab.settle(upid)).toBe("OK")
  const record = lab.sim.state.tasks.get(upid)!
  // 3 GiB at 200 MiB a second, and the allocation
  expect(record.endtime! - record.starttime).toBe(15)
})

test("a machine that is being cloned is refused at once, without waiting for its file", async () => {
  const lab = createLab()
  const upid = String(await lab.ok("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200, full: 1 }))
  lab.clock.advance(1000)
  const begun = lab.clock.now()
  for (const [method, path, parameters] of [
    ["PUT", "config", { description: "x" }],
    ["POST", "config", { description: "x" }],
    ["POST", "clone", { newid: 201 }],
    ["POST", "template", {}],
  ] as const) {
    const answer = await lab.call(method, `/nodes/pve/qemu/200/${path}`, parameters)
    expect(answer, `${method} ${path}`).toMatchObject({ status: 500, message: "VM is locked (clone)\n" })
  }
  expect(lab.clock.now()).toBe(begun)
  expect(await lab.settle(upid)).toBe("OK")
})

test("a clone of a running machine locks its file exclusively; a waiting change lets other clones pass", async () => {
  const lab = createLab()
  await lab.task("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200, full: 1 })
  const full = async (newid: number) => String(await lab.ok("POST", "/nodes/pve/qemu/200/clone", { newid, full: 1 }))
  const first = await full(201)
  lab.clock.advance(1000)
  const change = lab.sim.handle({
    method: "PUT",
    path: "/api2/json/nodes/pve/qemu/200/config?description=x",
    headers: { authorization: `PVEAPIToken=${lab.sim.rootToken}` },
  })
  lab.clock.advance(1000)
  const second = await full(202)
  expect(await lab.settle(first)).toBe("OK")
  expect(await lab.settle(second)).toBe("OK")
  expect((await change).status).toBe(500)
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  const third = await full(203)
  lab.clock.advance(500)
  expect(await lab.settle(await full(204))).toBe("can't lock file '/var/lock/qemu-server/lock-200.conf' - got timeout")
  expect(await lab.settle(third)).toBe("OK")
})

test("an interrupted clone leaves no machine, no disk and no pool member", async () => {
  const lab = createLab()
  const upid = String(await lab.ok("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200, pool: "SHARED" }))
  lab.clock.advance(2000)
  await lab.ok("DELETE", `/nodes/pve/tasks/${upid}`)
  expect(await lab.settle(upid)).toBe("received interrupt")
  expect(lab.sim.guest(200)).toBeUndefined()
  expect([...lab.sim.state.storages.get("local-lvm")!.volumes.keys()].filter((key) => key.includes("200"))).toEqual([])
  expect(lab.sim.state.pools.get("SHARED")?.vms.has(200)).toBe(false)
  expect(await lab.task("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200 })).toBe("OK")
})

test("a clone onto a full storage fails and leaves nothing", async () => {
  const lab = createLab()
  lab.sim.faults.add({ kind: "storage-full", storage: "local-lvm" })
  expect(await lab.task("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200 })).toBe(
    "clone failed: storage 'local-lvm': not enough free space",
  )
  expect(lab.sim.guest(200)).toBeUndefined()
})

test("cluster resources show a machine, its name and its state at the next report, its removal at once", async () => {
  const lab = createLab()
  lab.clock.advance(500)
  await lab.task("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200, name: "web" })
  const seen = async () =>
    ((await lab.ok("GET", "/cluster/resources?type=vm")) as { vmid: number }[]).find(({ vmid }) => vmid === 200)
  expect(await seen()).toEqual({ id: "qemu/200", type: "qemu", vmid: 200, node: "pve", status: "unknown" })
  lab.clock.advance(10_000)
  expect(await seen()).toMatchObject({ name: "web", status: "stopped" })
  lab.clock.advance(10_000 - (lab.clock.now() % 10_000) + 1)
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  expect(await seen()).toMatchObject({ status: "stopped" })
  expect(await lab.ok("GET", "/nodes/pve/qemu/200/status/current")).toMatchObject({ status: "running" })
  lab.clock.advance(10_000)
  expect(await seen()).toMatchObject({ status: "running" })
  await lab.task("POST", "/nodes/pve/qemu/200/status/stop")
  await lab.task("DELETE", "/nodes/pve/qemu/200")
  expect(await seen()).toBeUndefined()
})

test("the cluster's list of tasks shows all that run and the last finished ones of each node", async () => {
  const lab = createLab()
  for (let i = 0; i < 30; i += 1) await lab.task("POST", "/nodes/pve/qemu/100/config", { description: String(i) })
  const running = await lab.ok("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200 })
  const listed = (await lab.ok("GET", "/cluster/tasks")) as { upid: string; status?: string }[]
  expect(listed).toHaveLength(25)
  expect(listed.filter((task) => task.status === undefined).map((task) => task.upid)).toEqual([running])
  const archive = (await lab.ok("GET", "/nodes/pve/tasks?limit=100")) as unknown[]
  expect(archive).toHaveLength(30)
  const active = (await lab.ok("GET", "/nodes/pve/tasks?source=active")) as { status: string; user: string }[]
  expect(active).toMatchObject([{ status: "RUNNING", user: "root@pam!simulator" }])
})
