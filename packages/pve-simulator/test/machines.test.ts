import { expect, test } from "vitest"
import { createLab } from "./support/client.ts"

test("a machine moves between nodes: stopped as it is, running only live, and its local disks with it", async () => {
  const lab = createLab({ nodes: 3 })
  await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 200 })
  const migrate = async (parameters: Record<string, unknown>) =>
    await lab.call("POST", "/nodes/pve1/qemu/200/migrate", parameters)
  expect((await migrate({ target: "pve1" })).errors).toEqual({ target: "target is local node." })
  expect((await migrate({ target: "pve9" })).message).toBe("no such cluster node 'pve9'\n")
  await lab.task("POST", "/nodes/pve1/qemu/200/status/start")
  expect((await migrate({ target: "pve2" })).message).toBe("can't migrate running VM without --online\n")
  const id = lab.sim.faults.add({ kind: "node-down", node: "pve2" })
  expect(await lab.settle(String((await migrate({ target: "pve2", online: 1 })).data))).toBe("migration aborted")
  lab.sim.faults.remove(id)
  expect(await lab.settle(String((await migrate({ target: "pve2", online: 1 })).data))).toBe("OK")
  expect(await lab.ok("GET", "/nodes/pve2/qemu/200/status/current")).toMatchObject({ status: "running" })
  expect((await lab.call("GET", "/nodes/pve1/qemu/200/config")).status).toBe(500)
})

test("reasons against a migration are shown before it, and prevent it", async () => {
  const lab = createLab({ nodes: 3 })
  await lab.ok("POST", "/storage", { storage: "two", type: "dir", path: "/two", content: "images", nodes: "pve1,pve2" })
  await lab.task("POST", "/nodes/pve1/qemu", { vmid: 300, scsi0: "local:1", scsi1: "two:1", ide2: "vmstore:cloudinit" })
  const look = async () => await lab.ok("GET", "/nodes/pve1/qemu/300/migrate")
  expect(await look()).toMatchObject({
    running: 0,
    allowed_nodes: ["pve2"],
    not_allowed_nodes: { pve3: { unavailable_storages: ["two"] } },
    local_disks: [
      { drivename: "scsi0", volid: "local:300/vm-300-disk-0.raw", cdrom: 0, is_unused: 0, size: 1024 ** 3 },
      { drivename: "scsi1", volid: "two:300/vm-300-disk-0.raw" },
    ],
    local_resources: [],
    "dependent-ha-resources": [],
  })
  const migrate = async (parameters: Record<string, unknown>) =>
    await lab.call("POST", "/nodes/pve1/qemu/300/migrate", parameters)
  expect((await migrate({ target: "pve3" })).message).toBe("storage 'two' is not available on node 'pve3'\n")
  expect((await migrate({ target: "pve2", force: 1 })).errors).toEqual({ force: "Only root may use this option." })
  expect((await migrate({ target: "pve3", targetstorage: "none" })).message).toBe("storage 'none' does not exist\n")
  for (const targetstorage of ["local,vmstore", "two:vmstore,1"])
    expect(await migrate({ target: "pve3", targetstorage })).toMatchObject({
      status: 400,
      errors: { targetstorage: expect.stringContaining("failed to parse storage map") },
    })
  await lab.ok("PUT", "/nodes/pve1/qemu/300/config", { serial1: "socket" })
  expect((await lab.call("PUT", "/nodes/pve1/qemu/300/config", { serial0: "/dev/ttyS0" })).message).toBe(
    "only root can modify 'serial0' config for real devices\n",
  )
  lab.sim.guest(300)!.config["serial0"] = "/dev/ttyS0"
  expect(await look()).toMatchObject({ local_resources: ["serial0"] })
  expect(await lab.settle(String((await migrate({ target: "pve2" })).data))).toBe(
    "can't migrate VM which uses local devices: serial0",
  )
  expect((await lab.call("PUT", "/nodes/pve1/qemu/300/config", { delete: "serial0" })).message).toBe(
    "only root can delete 'serial0' config for real devices\n",
  )
  delete lab.sim.guest(300)!.config["serial0"]
  expect(await lab.settle(String((await migrate({ target: "pve3", targetstorage: "two:vmstore" })).data))).toBe("OK")
  expect(await lab.ok("GET", "/nodes/pve3/qemu/300/config")).toMatchObject({
    scsi0: "local:300/vm-300-disk-0.raw,size=1G",
    scsi1: "vmstore:vm-300-disk-0,size=1G",
  })
  expect(await lab.ok("GET", "/nodes/pve1/storage/two/content")).toEqual([])
})

test("a template on local storage cannot be cloned to another node", async () => {
  const lab = createLab({ nodes: 2 })
  await lab.task("POST", "/nodes/pve1/qemu", { vmid: 300, scsi0: "local:1" })
  await lab.task("POST", "/nodes/pve1/qemu/300/template")
  expect((await lab.call("POST", "/nodes/pve1/qemu/300/clone", { newid: 301, target: "pve2" })).message).toBe(
    "can't clone VM to node 'pve2' (VM uses local storage)\n",
  )
})

test("a moved disk keeps its source as an unused one unless told to delete it", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 300, scsi0: "local-lvm:4", virtio0: "local-lvm:2" })
  expect(await lab.task("POST", "/nodes/pve/qemu/300/move_disk", { disk: "scsi0", storage: "local" })).toBe("OK")
  expect(await lab.task("POST", "/nodes/pve/qemu/300/move_disk", { disk: "virtio0", storage: "local", delete: 1 })).toBe("OK")
  expect(await lab.ok("GET", "/nodes/pve/qemu/300/config")).toMatchObject({
    scsi0: "local:300/vm-300-disk-0.raw,size=4G",
    virtio0: "local:300/vm-300-disk-1.raw,size=2G",
    unused0: "local-lvm:vm-300-disk-0",
  })
  expect(lab.sim.state.storages.get("local-lvm")?.volumes.has("pve/local-lvm:vm-300-disk-1")).toBe(false)
})

test("a disk is stored with its volume first, however it was written", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", {
    vmid: 300,
    scsi0: "format=raw,file=local-lvm:4,iothread=1",
    ide2: "media=cdrom,file=none",
  })
  const config = async () => await lab.ok("GET", "/nodes/pve/qemu/300/config")
  expect(await config()).toMatchObject({ scsi0: "local-lvm:vm-300-disk-0,iothread=1,size=4G", ide2: "none,media=cdrom" })
  await lab.ok("PUT", "/nodes/pve/qemu/300/config", { scsi0: "iothread=1,file=local-lvm:vm-300-disk-0,discard=on" })
  expect(await config()).toMatchObject({ scsi0: expect.stringMatching(/^local-lvm:vm-300-disk-0,discard=on,iothread=1/u) })
})

test("a machine is created whole or not at all", async () => {
  const lab = createLab()
  lab.sim.faults.add({ kind: "storage-full", storage: "local" })
  expect(await lab.task("POST", "/nodes/pve/qemu", { vmid: 300, scsi0: "local-lvm:4", scsi1: "local:4" })).toBe(
    "unable to create VM 300 - storage 'local': not enough free space",
  )
  expect(lab.sim.guest(300)).toBeUndefined()
  expect([...lab.sim.state.storages.get("local-lvm")!.volumes.values()].filter((volume) => volume.vmid === 300)).toEqual([])
})

test("deleting a machine removes its disks, its pool membership, its rights and its lease", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200, pool: "SHARED" })
  await lab.ok("POST", "/access/users", { userid: "ann@pve" })
  await lab.ok("PUT", "/access/acl", { path: "/vms/200", roles: "PVEVMUser", users: "ann@pve" })
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  lab.clock.advance(40_000)
  await lab.ok("GET", "/nodes/pve/qemu/200/agent/network-get-interfaces")
  expect(lab.sim.state.leases.get("192.0.2")?.size).toBe(1)
  expect((await lab.call("DELETE", "/nodes/pve/qemu/200")).message).toBe("VM 200 is running - destroy failed\n")
  await lab.task("POST", "/nodes/pve/qemu/200/status/stop")
  expect(await lab.task("DELETE", "/nodes/pve/qemu/200", { purge: 1 })).toBe("OK")
  expect(lab.sim.state.access.acl.has("/vms/200")).toBe(false)
  expect(lab.sim.state.pools.get("SHARED")?.vms.has(200)).toBe(false)
  expect(lab.sim.state.leases.get("192.0.2")?.size).toBe(0)
  expect([...lab.sim.state.storages.get("local-lvm")!.volumes.values()].filter((volume) => volume.vmid === 200)).toEqual([])
})

test("two simultaneous changes of one machine are made one after the other", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })
  const [one, two] = [
    await lab.ok("POST", "/nodes/pve/qemu/200/status/start"),
    await lab.ok("POST", "/nodes/pve/qemu/200/status/start"),
  ]
  expect([await lab.settle(String(one)), await lab.settle(String(two))]).toEqual(["OK", "VM 200 already running"])
})

test("a machine whose disks a linked clone builds on stays until the clone is gone", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })
  expect(await lab.task("DELETE", "/nodes/pve/qemu/101")).toBe(
    "base volume 'local-lvm:base-101-disk-0' is still in use by linked cloned",
  )
  await lab.task("DELETE", "/nodes/pve/qemu/200")
  expect(await lab.task("DELETE", "/nodes/pve/qemu/101")).toBe("OK")
})

test("a card with a VLAN tag needs a bridge that is VLAN-aware or has a physical port", async () => {
  const lab = createLab()
  const bridges = lab.sim.state.nodes.get("pve")!.interfaces
  const plain = { type: "bridge", active: 1, autostart: 1, priority: 9 }
  bridges.set("vmbr7", { ...plain, bridge_ports: "" })
  bridges.set("vmbr8", { ...plain, bridge_ports: "tap5 eno2" })
  bridges.set("vmbr9", { ...plain, bridge_ports: "", bridge_vlan_aware: 1 })
  const start = async (vmid: number, net0: string) => {
    await lab.task("POST", "/nodes/pve/qemu", { vmid, net0: `virtio,${net0}` })
    return lab.task("POST", `/nodes/pve/qemu/${vmid}/status/start`)
  }
  expect(await start(301, "bridge=vmbr7,tag=1")).toBe("no physical interface on bridge 'vmbr7'")
  expect(lab.sim.guest(301)?.status).toBe("stopped")
  expect(await start(302, "bridge=vmbr7")).toBe("OK")
  expect(await start(303, "bridge=vmbr8,tag=1")).toBe("OK")
  expect(await start(304, "bridge=vmbr9,tag=1")).toBe("OK")
  // the routers' outer bridge is as it has to be
  expect(await start(305, "bridge=vmbr1000,tag=1")).toBe("OK")
})

test("the outer bridge in a state from before bridges stored this is VLAN-aware, a plain one in a newer state stays plain", () => {
  const aware = (saved: string): unknown => {
    const lab = createLab()
    lab.sim.restore(saved)
    return lab.sim.state.nodes.get("pve")!.interfaces.get("vmbr1000")!["bridge_vlan_aware"]
  }
  const lab = createLab()
  delete lab.sim.state.nodes.get("pve")!.interfaces.get("vmbr1000")!["bridge_vlan_aware"]
  const saved = JSON.parse(lab.sim.save()) as Record<string, unknown>
  expect(aware(JSON.stringify(saved))).toBeUndefined()
  delete saved["gained"]
  expect(aware(JSON.stringify(saved))).toBe(1)
})
