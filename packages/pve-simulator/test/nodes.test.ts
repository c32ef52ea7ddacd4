import { expect, test } from "vitest"
import { createSimulator } from "../src/index.ts"
import { createLab } from "./support/client.ts"

test.each<[number | readonly string[]]>([[0], [-1], [[]], [["a b"]], [["pve1", "pve1"]]])(
  "a cluster of %j is refused",
  (nodes) => {
    expect(() => createSimulator({ nodes })).toThrow(/nodes must be a number from 1, or distinct names of hosts/u)
  },
)

test("a node reports its services, counters, log and capabilities", async () => {
  const lab = createLab()
  const services = (await lab.ok("GET", "/nodes/pve/services")) as { service: string; state: string }[]
  expect(services).toContainEqual(expect.objectContaining({ service: "pveproxy", state: "running", "active-state": "active" }))
  expect(services.find(({ service }) => service === "corosync")?.state).toBe("dead")
  expect(await lab.task("POST", "/nodes/pve/services/pveproxy/restart")).toBe("OK")
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  expect(await lab.ok("GET", "/nodes/pve/netstat")).toEqual([{ vmid: "200", dev: "net0", in: "0", out: "0" }])
  const log = (await lab.ok("GET", "/nodes/pve/syslog", { limit: 500 })) as { t: string }[]
  expect(log.at(-1)?.t).toMatch(/pve pvedaemon\[\d+\]: <root@pam!simulator> end task UPID:pve:.*:qmstart:200:.* OK$/u)
  expect(await lab.ok("GET", "/nodes/pve/syslog", { service: "cron" })).toEqual([{ n: 1, t: "no content" }])
  await lab.ok("POST", "/cluster/qemu/custom-cpu-models", { cputype: "mine", "reported-model": "EPYC" })
  const models = await lab.ok("GET", "/nodes/pve/capabilities/qemu/cpu")
  expect(models).toContainEqual({ name: "host", custom: 0, vendor: "default" })
  expect(models).toContainEqual({ name: "custom-mine", custom: 1, vendor: "AuthenticAMD" })
  expect(await lab.ok("GET", "/nodes/pve/capabilities/qemu/machines")).toContainEqual({
    id: "pc-q35-10.1",
    type: "q35",
    version: "10.1",
  })
  // exporters read these and give up where they are refused
  for (const list of ["/nodes/pve/replication", "/cluster/replication", "/cluster/mapping/pci", "/cluster/metrics/server"])
    expect(await lab.ok("GET", list)).toEqual([])
  expect((await lab.call("POST", "/nodes/pve/aplinfo", { storage: "local", template: "debian" })).errors).toEqual({
    template: "no such template",
  })
})

test("a reboot of a node shuts its machines down, and brings it back with those that start on boot", async () => {
  const lab = createLab({ nodes: 2 })
  for (const newid of [200, 201]) await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid })
  await lab.ok("PUT", "/nodes/pve1/qemu/200/config", { onboot: 1 })
  for (const vmid of [200, 201]) await lab.task("POST", `/nodes/pve1/qemu/${vmid}/status/start`)
  lab.clock.advance(60_000)
  const online = async () => ((await lab.ok("GET", "/nodes")) as { status: string }[])[0]?.status
  await lab.ok("POST", "/nodes/pve1/status", { command: "reboot" })
  expect(await online()).toBe("online")
  lab.clock.advance(40_000)
  expect(await online()).toBe("offline")
  expect(lab.sim.guest(200)?.status).toBe("stopped")
  lab.clock.advance(180_000)
  expect(await online()).toBe("online")
  expect([lab.sim.guest(200)?.status, lab.sim.guest(201)?.status]).toEqual(["running", "stopped"])
  await lab.ok("POST", "/nodes/pve1/status", { command: "shutdown" })
  lab.clock.advance(600_000)
  expect(await online()).toBe("offline")
})

test("a system is frozen, thawed, sent to sleep and resumed through its agent", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  lab.clock.advance(60_000)
  const agent = async (name: string) => await lab.call("POST", `/nodes/pve/qemu/200/agent/${name}`)
  const status = async () => await lab.ok("GET", "/nodes/pve/qemu/200/status/current")
  expect((await agent("suspend-ram")).data).toEqual({ result: {} })
  expect(await status()).toMatchObject({ status: "running", qmpstatus: "suspended" })
  expect((await agent("ping")).message).toBe("QEMU guest agent is not running\n")
  await lab.task("POST", "/nodes/pve/qemu/200/status/resume")
  expect((await agent("ping")).status).toBe(200)
  expect((await agent("fsfreeze-freeze")).data).toEqual({ result: 1 })
  expect((await agent("fsfreeze-status")).data).toEqual({ result: "frozen" })
  expect((await agent("fsfreeze-thaw")).data).toEqual({ result: 1 })
  expect((await agent("fsfreeze-status")).data).toEqual({ result: "thawed" })
  await agent("suspend-disk")
  expect(await status()).toMatchObject({ status: "stopped" })
})

test("options of the cluster can be read, and apply to new machines", async () => {
  const lab = createLab()
  await lab.ok("PUT", "/cluster/options", {
    "next-id": "lower=500,upper=600",
    mac_prefix: "02:AB",
    description: "x",
    console: "html5",
  })
  expect(await lab.ok("GET", "/cluster/options")).toEqual({
    keyboard: "en-us",
    mac_prefix: "02:AB",
    description: "x",
    console: "html5",
    "next-id": { lower: "500", upper: "600" },
  })
  expect(await lab.ok("GET", "/cluster/nextid")).toBe("500")
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 500, net0: "virtio,bridge=vmbr0" })
  expect(lab.sim.guest(500)?.config["net0"]).toMatch(/^virtio=02:AB(?::[0-9A-F]{2}){4},/u)
  await lab.ok("PUT", "/cluster/options", { delete: "next-id,description" })
  expect(await lab.ok("GET", "/cluster/options")).toEqual({ keyboard: "en-us", mac_prefix: "02:AB", console: "html5" })
})

test("options of a node and its hosts file can be read", async () => {
  const lab = createLab({ nodes: 2 })
  await lab.ok("PUT", "/nodes/pve1/config", { description: "left", "startall-onboot-delay": 5 })
  const { digest } = (await lab.ok("GET", "/nodes/pve1/config")) as { digest: string }
  await lab.ok("PUT", "/nodes/pve1/config", { delete: "startall-onboot-delay", digest })
  expect(await lab.ok("GET", "/nodes/pve1/config")).toEqual({ description: "left", digest: expect.any(String) as string })
  expect((await lab.call("PUT", "/nodes/pve1/config", { description: "x", digest })).message).toContain(
    "detected modified configuration",
  )
  expect(await lab.ok("GET", "/nodes/pve2/config")).not.toHaveProperty("description")
  const { data } = (await lab.ok("GET", "/nodes/pve1/hosts")) as { data: string }
  expect(data).toContain("10.0.0.11 pve1.lab.example pve1\n")
  await lab.ok("POST", "/nodes/pve1/hosts", { data: `${data}10.0.0.99 other\n` })
  expect(await lab.ok("GET", "/nodes/pve1/hosts")).toMatchObject({ data: `${data}10.0.0.99 other\n` })
  expect((await lab.sim.command("pve1", ["cat", "/etc/hosts"])).stdout).toContain("other")
})

test("a volume has the name that was asked for, is copied under another, and only backups have notes", async () => {
  const lab = createLab({ nodes: 2 })
  const make = async (filename: string, more: Record<string, unknown> = {}) =>
    await lab.call("POST", "/nodes/pve1/storage/local/content", { vmid: 300, filename, size: "1G", ...more })
  expect((await make("vm-300-own.qcow2")).data).toBe("local:300/vm-300-own.qcow2")
  expect((await make("vm-300-own.qcow2")).message).toContain("already exists")
  expect((await make("vm-301-own.qcow2")).message).toBe("illegal name 'vm-301-own.qcow2' - should be 'vm-300-*'\n")
  expect((await make("vm-300-two.qcow2", { format: "raw" })).errors).toEqual({
    format: "different storage formats (raw != qcow2)",
  })
  const volume = "/nodes/pve1/storage/local/content/local%3A300%2Fvm-300-own.qcow2"
  expect((await lab.call("PUT", volume, { notes: "x" })).message).toBe("only backups support attribute 'notes'\n")
  expect((await lab.call("POST", volume, { target: "local:300/vm-300-copy.qcow2" })).status).toBe(403)
  const { ticket, CSRFPreventionToken: csrf } = (await lab.ok(
    "POST",
    "/access/ticket",
    { username: "root@pam", password: lab.sim.rootPassword },
    "nobody",
  )) as { ticket: string; CSRFPreventionToken: string }
  const copy = { target: "local:300/vm-300-copy.qcow2", target_node: "pve2" }
  expect(await lab.settle(String((await lab.call("POST", volume, copy, { ticket, csrf })).data))).toBe("OK")
  expect(await lab.ok("GET", "/nodes/pve2/storage/local/content", { vmid: 300 })).toMatchObject([{ volid: copy.target }])
})

test("no user has a second factor", async () => {
  const lab = createLab()
  expect(await lab.ok("GET", "/access/tfa")).toEqual([])
  expect(await lab.ok("GET", "/access/tfa/root@pam")).toEqual([])
  expect(await lab.ok("GET", "/access/users/root@pam/tfa?multiple=1")).toEqual({ types: [] })
  expect((await lab.call("GET", "/access/users/none@pve/tfa")).message).toBe("no such user ('none@pve')\n")
})

test("a cluster lists its members and how to join it; a single node has no cluster", async () => {
  const lab = createLab({ nodes: 2 })
  expect(await lab.ok("GET", "/cluster/config/nodes")).toMatchObject([{ node: "pve1" }, { node: "pve2" }])
  lab.sim.state.nodes.delete("pve2")
  expect(await lab.ok("GET", "/cluster/config/nodes")).toEqual([])
  expect((await lab.call("GET", "/cluster/config/join")).message).toBe("node is not in a cluster, no join info available!\n")
  const http = createSimulator({ nodes: 2 })
  const { url, fingerprint } = await http.listen()
  try {
    expect(url).toContain("https")
    const answer = await http.handle({
      method: "GET",
      path: "/api2/json/cluster/config/join",
      headers: { authorization: `PVEAPIToken=${http.rootToken}` },
    })
    expect(JSON.parse(answer.body)).toMatchObject({
      data: { preferred_node: "pve1", nodelist: [{ name: "pve1", nodeid: "1", pve_fp: fingerprint, pve_addr: "10.0.0.11" }, {}] },
    })
  } finally {
    await http.close()
  }
})
