import { expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const vm = "/nodes/pve/qemu/200"

/** A VM whose memory is on disk. */
const hibernated = async (): Promise<Lab> => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })
  await lab.task("POST", `${vm}/status/start`)
  lab.clock.advance(60_000)
  expect(await lab.task("POST", `${vm}/status/suspend`, { todisk: 1 })).toBe("OK")
  return lab
}

const config = async (lab: Lab) => (await lab.ok("GET", `${vm}/config`)) as Record<string, unknown>
const stateVolumes = (lab: Lab) =>
  [...lab.sim.state.storages.get("local-lvm")!.volumes.values()].filter(({ volid }) => volid.includes("vm-200-state"))

test("a VM that hibernates is off and locked, and its memory is on disk", async () => {
  const lab = await hibernated()
  expect(await lab.ok("GET", `${vm}/status/current`)).toMatchObject({ status: "stopped", lock: "suspended" })
  expect((await config(lab))["vmstate"]).toMatch(/^local-lvm:vm-200-state-suspend-\d{4}-\d\d-\d\d$/)
  expect(stateVolumes(lab)).toHaveLength(1)
  expect((await lab.call("PUT", `${vm}/config`, { description: "x" })).message).toBe("VM is locked (suspended)\n")
})

test.each(["resume", "start"])("it goes on where it was by %s, without a boot, and nothing of it stays on disk", async (how) => {
  const lab = await hibernated()
  expect(await lab.task("POST", `${vm}/status/${how}`)).toBe("OK")
  expect(await lab.ok("GET", `${vm}/status/current`)).toMatchObject({ status: "running", qmpstatus: "running" })
  for (const key of ["lock", "vmstate", "runningmachine", "runningcpu"]) expect(await config(lab)).not.toHaveProperty(key)
  expect(stateVolumes(lab)).toEqual([])
  expect((await lab.call("POST", `${vm}/agent/ping`)).status).toBe(200)
})

test("a stop and a shutdown of it end well and change nothing, a reset finds it off", async () => {
  const lab = await hibernated()
  for (const how of ["stop", "shutdown"]) expect(await lab.task("POST", `${vm}/status/${how}`), how).toBe("OK")
  expect((await lab.call("POST", `${vm}/status/reset`)).message).toBe("VM 200 not running\n")
  expect(await config(lab)).toMatchObject({ lock: "suspended" })
})

test("it is destroyed with its memory", async () => {
  const lab = await hibernated()
  expect(await lab.task("DELETE", vm)).toBe("OK")
  expect(lab.sim.guest(200)).toBeUndefined()
  expect(stateVolumes(lab)).toEqual([])
})

test("hibernating a VM needs the right on its disks and on the storage; a hibernation that is stopped leaves it running", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })
  await lab.task("POST", `${vm}/status/start`)
  await lab.ok("POST", "/access/users", { userid: "ann@pve" })
  const made = (await lab.ok("POST", "/access/users/ann@pve/token/tok", { privsep: 0 })) as { value: string }
  const ann = { token: `ann@pve!tok=${made.value}` }
  const grant = async (path: string, roles: string) => await lab.ok("PUT", "/access/acl", { path, roles, users: "ann@pve" })
  const suspend = async () => (await lab.call("POST", `${vm}/status/suspend`, { todisk: 1 }, ann)).message
  await grant("/vms/200", "PVEVMUser")
  expect(await suspend()).toBe("Permission check failed (/vms/200, VM.Config.Disk)\n")
  await grant("/vms/200", "PVEVMAdmin")
  expect(await suspend()).toBe("Permission check failed (/storage/local-lvm, Datastore.AllocateSpace)\n")
  await grant("/storage/local-lvm", "PVEDatastoreUser")
  const upid = String(await lab.ok("POST", `${vm}/status/suspend`, { todisk: 1 }, ann))
  lab.clock.advance(500)
  expect(await config(lab)).toMatchObject({ lock: "suspending" })
  await lab.ok("DELETE", `/nodes/pve/tasks/${upid}`)
  expect(await lab.settle(upid)).toBe("received interrupt")
  expect(await lab.ok("GET", `${vm}/status/current`)).toMatchObject({ status: "running" })
  expect(await config(lab)).not.toHaveProperty("lock")
  expect(stateVolumes(lab)).toEqual([])
})
