import { expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const DEBIAN = 101
const WINDOWS = 104

const cloneAndStart = async (lab: Lab, vmid: number, template = DEBIAN, net0 = "virtio,bridge=vmbr1000,tag=1") => {
  expect(await lab.task("POST", `/nodes/pve/qemu/${template}/clone`, { newid: vmid, name: `vm${vmid}` })).toBe("OK")
  await lab.ok("PUT", `/nodes/pve/qemu/${vmid}/config`, { net0 })
  expect(await lab.task("POST", `/nodes/pve/qemu/${vmid}/status/start`)).toBe("OK")
}

const at = (vmid: number, call: string) => `/nodes/pve/qemu/${vmid}/agent/${call}`

const addresses = async (lab: Lab, vmid: number): Promise<string[]> => {
  const { result } = (await lab.ok("GET", at(vmid, "network-get-interfaces"))) as {
    result: { name: string; "ip-addresses": { "ip-address": string; "ip-address-type": string }[] }[]
  }
  return result.flatMap((each) =>
    each["ip-addresses"].filter((ip) => ip["ip-address-type"] === "ipv4").map((ip) => `${each.name} ${ip["ip-address"]}`),
  )
}

const begin = async (lab: Lab, vmid: number, command: string[], input?: unknown) =>
  (
    (await lab.ok("POST", at(vmid, "exec"), {
      command,
      ...(input === undefined ? {} : { "input-data": JSON.stringify(input) }),
    })) as { pid: number }
  ).pid

interface ExecStatus {
  readonly exited: number
  readonly exitcode?: number
  readonly "out-data"?: string
  readonly "err-data"?: string
}

const outcome = async (lab: Lab, vmid: number, pid: number): Promise<ExecStatus & { seconds: number }> => {
  const from = lab.clock.now()
  for (;;) {
    const status = (await lab.ok("GET", at(vmid, "exec-status"), { pid })) as ExecStatus
    if (status.exited === 1) return { ...status, seconds: Math.round((lab.clock.now() - from) / 1000) }
    lab.clock.advance(1000)
  }
}

const stage = async (lab: Lab, vmid: number, name: string, input: unknown) =>
  await outcome(lab, vmid, await begin(lab, vmid, ["guest-stage", name], input))

test("a started machine answers through its agent after its boot, and has a lease soon after", async () => {
  const lab = createLab()
  const before = lab.clock.now()
  await cloneAndStart(lab, 200)
  expect((await lab.call("GET", at(200, "info"))).message).toBe("QEMU guest agent is not running\n")
  lab.clock.advance(before + 4000 + 25_000 + 1000 - lab.clock.now())
  expect((await lab.call("POST", at(200, "ping"))).status).toBe(200)
  expect(await addresses(lab, 200)).toEqual(["lo 127.0.0.1"])
  lab.clock.advance(2000)
  expect(await addresses(lab, 200)).toEqual(["lo 127.0.0.1", "ens18 192.0.2.50"])
})

test("agent calls say what is missing: the machine, the option, the answer", async () => {
  const lab = createLab()
  await lab.task("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200 })
  expect((await lab.call("POST", at(200, "ping"))).message).toBe("VM 200 is not running\n")
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { delete: "agent" })
  expect((await lab.call("POST", at(200, "ping"))).message).toBe("No QEMU guest agent configured\n")
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { agent: "0" })
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  lab.clock.advance(60_000)
  expect((await lab.call("POST", at(200, "ping"))).message).toBe("QEMU guest agent is not running\n")
  lab.sim.faults.add({ kind: "silent-agent", vmid: 201 })
  await cloneAndStart(lab, 201)
  lab.clock.advance(60_000)
  const from = lab.clock.now()
  expect((await lab.call("POST", at(201, "ping"))).message).toBe("QEMU guest agent is not running\n")
  expect(lab.clock.now() - from).toBe(3000)
})

test("a machine on a VLAN of a range gets that VLAN's lease; Windows names its interfaces its own way", async () => {
  const lab = createLab()
  await lab.ok("POST", "/nodes/pve/network", { iface: "vmbr1007", type: "bridge", autostart: 1, bridge_vlan_aware: 1 })
  expect(await lab.task("PUT", "/nodes/pve/network")).toBe("OK")
  await cloneAndStart(lab, 200, WINDOWS, "virtio,bridge=vmbr1007,tag=20")
  lab.clock.advance(80_000)
  expect(await addresses(lab, 200)).toEqual(["Ethernet 10.7.20.100", "Loopback Pseudo-Interface 1 127.0.0.1"])
  expect(await lab.ok("GET", at(200, "get-osinfo"))).toMatchObject({ result: { id: "mswindows" } })
})

test("a node boots eight machines at once; the ninth waits for a place", async () => {
  const lab = createLab()
  for (let i = 0; i < 9; i += 1) await lab.task("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200 + i })
  const started = lab.clock.now()
  for (let i = 0; i < 9; i += 1) await lab.ok("POST", `/nodes/pve/qemu/${200 + i}/status/start`)
  lab.clock.advance(started + 25_000 - lab.clock.now())
  expect(Array.from({ length: 9 }, (_, i) => lab.sim.guest(200 + i)?.boot.kind)).toEqual([
    ...Array.from({ length: 8 }, () => "up"),
    "booting",
  ])
  lab.clock.advance(25_000)
  expect(lab.sim.guest(208)?.boot.kind).toBe("up")
})

test("a machine whose bridge is missing does not start", async () => {
  const lab = createLab()
  await lab.task("POST", `/nodes/pve/qemu/${DEBIAN}/clone`, { newid: 200 })
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { net0: "virtio,bridge=vmbr1042,tag=10" })
  expect(await lab.task("POST", "/nodes/pve/qemu/200/status/start")).toBe("bridge 'vmbr1042' does not exist")
})

test("a stage takes its time, records its effect, and changes nothing the second time", async () => {
  const lab = createLab()
  await cloneAndStart(lab, 200)
  lab.clock.advance(30_000)
  const input = { address: "10.5.10.11/24", gateway: "10.5.10.254", dns: ["10.5.10.254"], hostname: "web" }
  const first = await stage(lab, 200, "address", input)
  expect(first).toMatchObject({ exitcode: 0, seconds: 12 })
  expect(JSON.parse(first["out-data"]!)).toMatchObject({ changed: true, state: { address: "10.5.10.11", hostname: "web" } })
  const second = await stage(lab, 200, "address", input)
  expect(second.seconds).toBe(2)
  expect(JSON.parse(second["out-data"]!)).toMatchObject({ changed: false })
  expect(await addresses(lab, 200)).toEqual(["lo 127.0.0.1", "ens18 10.5.10.11"])
  expect(await lab.ok("GET", at(200, "get-host-name"))).toEqual({ result: { "host-name": "web" } })
  await stage(lab, 200, "role", { role: "nginx", vars: { admin_password: "hunter2" } })
  await stage(lab, 200, "role", { role: "redis" })
  const facts = await outcome(lab, 200, await begin(lab, 200, ["guest-facts"]))
  expect(JSON.parse(facts["out-data"]!)).toMatchObject({ roles: ["nginx", "redis"] })
  expect(facts["out-data"]).not.toContain("hunter2")
})

test("stages of one machine run one after another, of two machines side by side, and twenty at once over all", async () => {
  const lab = createLab()
  await cloneAndStart(lab, 200)
  await cloneAndStart(lab, 201)
  lab.clock.advance(30_000)
  const from = lab.clock.now()
  const pids = [
    await begin(lab, 200, ["guest-stage", "role"], { role: "a" }),
    await begin(lab, 200, ["guest-stage", "role"], { role: "b" }),
  ]
  const other = await begin(lab, 201, ["guest-stage", "role"], { role: "a" })
  await outcome(lab, 200, pids[0]!)
  await outcome(lab, 201, other)
  expect((lab.clock.now() - from) / 1000).toBe(120)
  await outcome(lab, 200, pids[1]!)
  expect((lab.clock.now() - from) / 1000).toBe(240)

  const crowd = createLab({ timing: { guestStages: 1 } })
  await cloneAndStart(crowd, 200)
  await cloneAndStart(crowd, 201)
  crowd.clock.advance(30_000)
  const begun = crowd.clock.now()
  const first = await begin(crowd, 200, ["guest-stage", "role"], { role: "a" })
  const second = await begin(crowd, 201, ["guest-stage", "role"], { role: "a" })
  await outcome(crowd, 200, first)
  await outcome(crowd, 201, second)
  expect((crowd.clock.now() - begun) / 1000).toBe(240)
})

test("a stage that is planned to fail says why; one whose machine goes off is lost and leaves no effect", async () => {
  const lab = createLab()
  await cloneAndStart(lab, 200)
  lab.clock.advance(30_000)
  lab.sim.faults.add({ kind: "fail-stage", stage: "domain-join", text: "the domain controller is unreachable" })
  expect(await stage(lab, 200, "domain-join", { fqdn: "lab.example" })).toMatchObject({
    exitcode: 1,
    "err-data": "the domain controller is unreachable",
  })
  expect(await stage(lab, 200, "domain-join", { fqdn: "lab.example" })).toMatchObject({ exitcode: 0, seconds: 110 })
  const pid = await begin(lab, 200, ["guest-stage", "primary-dc"], {})
  lab.clock.advance(100_000)
  await lab.task("POST", "/nodes/pve/qemu/200/status/stop")
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  lab.clock.advance(30_000)
  expect((await lab.call("GET", at(200, "exec-status"), { pid })).message).toBe(`Agent error: PID ${pid} does not exist\n`)
  expect(lab.sim.guest(200)?.os?.stages["primary-dc"]).toBeUndefined()
})

test("a few commands work in a guest, and others fail", async () => {
  const lab = createLab()
  await cloneAndStart(lab, 200)
  lab.clock.advance(40_000)
  const run = async (command: string[]) => await outcome(lab, 200, await begin(lab, 200, command))
  expect(await run(["hostname"])).toMatchObject({ exitcode: 0, "out-data": "debian-12-x64-server-template\n" })
  expect(JSON.parse((await run(["ip", "-j", "addr"]))["out-data"]!)).toMatchObject([
    { ifname: "lo" },
    { addr_info: [{ local: "192.0.2.50", prefixlen: 24 }] },
  ])
  expect(await run(["rm", "-rf", "/"])).toMatchObject({ exitcode: 127, "err-data": "rm: not found\n" })
  expect(await run(["guest-stage"])).toMatchObject({ exitcode: 2 })
  expect(await outcome(lab, 200, await begin(lab, 200, ["guest-stage", "role"], ["no object"]))).toMatchObject({ exitcode: 2 })
})

test("a running machine takes some changes at once and the rest with its next start", async () => {
  const lab = createLab()
  await cloneAndStart(lab, 200)
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { memory: "8192", description: "now" })
  expect(await lab.ok("GET", "/nodes/pve/qemu/200/pending")).toContainEqual({ key: "memory", value: "4096", pending: "8192" })
  expect(lab.sim.guest(200)?.config["description"]).toBe("now")
  await lab.task("POST", "/nodes/pve/qemu/200/status/stop")
  expect(lab.sim.guest(200)?.config["memory"]).toBe("8192")
})

test("a running machine changes networks at once, and its cards only as far as its hotplug goes", async () => {
  const lab = createLab()
  const current = () => lab.ok("GET", "/nodes/pve/qemu/200/config", { current: 1 }) as Promise<Record<string, unknown>>
  const change = (net: string, text: string) => lab.ok("PUT", "/nodes/pve/qemu/200/config", { [net]: text })
  const card = "virtio=02:00:00:00:00:01"
  await cloneAndStart(lab, 200)
  await change("net0", `${card},bridge=vmbr0`)
  expect(await current()).toMatchObject({ net0: `${card},bridge=vmbr0` })
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { hotplug: "disk,usb" })

  await change("net0", `${card},bridge=vmbr0,tag=20`)
  expect(await current()).toMatchObject({ net0: `${card},bridge=vmbr0,tag=20` })

  const other = "e1000=02:00:00:00:00:01,bridge=vmbr0,tag=20"
  await change("net0", other)
  await change("net1", "virtio=02:00:00:00:00:02,bridge=vmbr0")
  expect(await current()).toMatchObject({ net0: `${card},bridge=vmbr0,tag=20` })
  expect(await current()).not.toHaveProperty("net1")
  expect(await lab.ok("GET", "/nodes/pve/qemu/200/config")).toMatchObject({ net0: other })
  expect(await lab.ok("GET", "/nodes/pve/qemu/200/pending")).toEqual(
    expect.arrayContaining([
      { key: "net0", value: `${card},bridge=vmbr0,tag=20`, pending: other },
      { key: "net1", pending: "virtio=02:00:00:00:00:02,bridge=vmbr0" },
    ]),
  )
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { delete: "net1" })
  await lab.task("POST", "/nodes/pve/qemu/200/status/stop")
  expect(await current()).toMatchObject({ net0: other })
  expect(await current()).not.toHaveProperty("net1")
})

test("a card of a running machine whose new network is not on the node is refused, and is on no network until the next start", async () => {
  const lab = createLab()
  await cloneAndStart(lab, 200)
  await cloneAndStart(lab, 201)
  const cards = ["virtio=02:00:00:00:00:01,bridge=vmbr0", "virtio=02:00:00:00:00:02,bridge=vmbr0"]
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { net0: cards[0] })
  await lab.ok("PUT", "/nodes/pve/qemu/201/config", { net0: cards[1] })
  expect(lab.sim.reaches(200, 201)).toBe(true)
  const lost = "virtio=02:00:00:00:00:01,bridge=nowhere"
  const refused = await lab.call("PUT", "/nodes/pve/qemu/200/config", { net0: lost, description: "taken" })
  expect(refused).toMatchObject({ status: 400, errors: { net0: "hotplug problem - bridge 'nowhere' does not exist\n" } })
  expect(lab.sim.guest(200)).toMatchObject({ config: { net0: cards[0], description: "taken" }, pending: { net0: lost } })
  expect(lab.sim.reaches(200, 201)).toBe(false)
  await lab.ok("PUT", "/nodes/pve/qemu/200/config", { revert: "net0" })
  await lab.task("POST", "/nodes/pve/qemu/200/status/stop")
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  expect(lab.sim.reaches(200, 201)).toBe(true)
})

test("a shutdown works on a system that is up, and times out on one that does not react", async () => {
  const lab = createLab()
  await cloneAndStart(lab, 200)
  lab.clock.advance(40_000)
  lab.sim.faults.add({ kind: "silent-agent", vmid: 200 })
  expect(await lab.task("POST", "/nodes/pve/qemu/200/status/shutdown", { timeout: 30 })).toBe(
    "VM quit/powerdown failed - got timeout",
  )
  expect(lab.sim.guest(200)?.status).toBe("running")
  lab.sim.faults.clear()
  expect(await lab.task("POST", "/nodes/pve/qemu/200/status/shutdown")).toBe("OK")
  expect(lab.sim.guest(200)?.status).toBe("stopped")
})

test("a rollback brings the disk's state back, and with saved memory the running machine too", async () => {
  const lab = createLab()
  await cloneAndStart(lab, 200)
  lab.clock.advance(40_000)
  await stage(lab, 200, "hostname", { hostname: "before" })
  expect(await lab.task("POST", "/nodes/pve/qemu/200/snapshot", { snapname: "good", vmstate: 1 })).toBe("OK")
  await stage(lab, 200, "hostname", { hostname: "after" })
  expect(await lab.task("POST", "/nodes/pve/qemu/200/snapshot/good/rollback")).toBe("OK")
  expect(await lab.ok("GET", at(200, "get-host-name"))).toEqual({ result: { "host-name": "before" } })
  expect(await lab.task("DELETE", "/nodes/pve/qemu/200/snapshot/good")).toBe("OK")
  expect([...lab.sim.state.storages.get("local-lvm")!.volumes.values()].filter((volume) => volume.vmid === 200)).toHaveLength(1)
})

test("a rollback keeps the present description and unused volumes, and restores everything else", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/100/clone", { newid: 200, name: "one", full: 0 })
  const config = () => lab.ok("GET", "/nodes/pve/qemu/200/config") as Promise<Record<string, unknown>>
  const change = (changes: Record<string, unknown>) => lab.ok("PUT", "/nodes/pve/qemu/200/config", changes)
  await change({ description: "before", tags: "old", memory: 1024 })
  expect(await lab.task("POST", "/nodes/pve/qemu/200/snapshot", { snapname: "good" })).toBe("OK")
  await change({ description: "after", tags: "new", memory: 2048 })
  await change({ scsi1: "local-lvm:1" })
  await change({ delete: "scsi1" })
  const unused = (await config())["unused0"]
  expect(unused).toBeDefined()
  expect(await lab.task("POST", "/nodes/pve/qemu/200/snapshot/good/rollback")).toBe("OK")
  const after = await config()
  expect(after).toMatchObject({ tags: "old", memory: "1024", unused0: unused })
  expect(String(after["description"]).trim()).toBe("after")

  await change({ delete: "description" })
  expect(await lab.task("POST", "/nodes/pve/qemu/200/snapshot/good/rollback")).toBe("OK")
  expect(await config()).not.toHaveProperty("description")
})

test("a card that cannot be plugged into a running machine is refused by number, and waits for the next start", async () => {
  const lab = createLab()
  await lab.ok("POST", "/nodes/pve/network", { iface: "vmbr7", type: "bridge", autostart: 1 })
  await lab.task("PUT", "/nodes/pve/network")
  await cloneAndStart(lab, 200)
  const plug = async (key: string, network: string) =>
    await lab.call("PUT", "/nodes/pve/qemu/200/config", { [key]: `virtio=02:00:00:00:00:01,${network}` })
  for (const [network, status] of [
    ["bridge=vmbr7,tag=20", 65_280],
    ["bridge=nowhere", 512],
  ] as const) {
    expect(await plug("net2", network)).toMatchObject({
      status: 400,
      message: "Parameter verification failed.\n",
      errors: {
        net2: `hotplug problem - VM 200 qmp command 'netdev_add' failed - network script /usr/libexec/qemu-server/pve-bridge-hotplug failed with status ${status}\n`,
      },
    })
    expect(lab.sim.guest(200)?.pending["net2"]).toContain(network)
    expect(lab.sim.guest(200)?.config["net2"]).toBeUndefined()
  }
  expect((await plug("net2", "bridge=vmbr7")).status).toBe(200)
})

test("the status of a running machine tells its cards and its pressure, that of a stopped one does not", async () => {
  const lab = createLab()
  await cloneAndStart(lab, 200)
  const status = async () => await lab.ok("GET", "/nodes/pve/qemu/200/status/current")
  expect(await status()).toMatchObject({ nics: { tap200i0: { netin: 0, netout: 0 } }, pressurecpusome: 0, pressureiofull: 0 })
  await lab.task("POST", "/nodes/pve/qemu/200/status/stop")
  for (const key of ["nics", "pressurecpusome"]) expect(await status()).not.toHaveProperty(key)
})

test("flags of a card are stored as 0 and 1, however they were written", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/100/clone", { newid: 200, name: "one", full: 0 })
  const card = "virtio=02:00:00:00:00:01,bridge=vmbr0"
  for (const [written, stored] of [
    ["firewall=true", "firewall=1"],
    ["firewall=off,link_down=yes", "firewall=0,link_down=1"],
    ["tag=7,firewall=1", "firewall=1,tag=7"],
  ] as const) {
    await lab.ok("PUT", "/nodes/pve/qemu/200/config", { net0: `${card},${written}` })
    expect(await lab.ok("GET", "/nodes/pve/qemu/200/config")).toMatchObject({ net0: `${card},${stored}` })
  }
})
