import { expect, test } from "vitest"
import { createLab } from "./support/client.ts"

test("a paused VM is stopped by a shutdown that may stop it", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1" })
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  await lab.task("POST", "/nodes/pve/qemu/200/status/suspend")
  expect((await lab.call("POST", "/nodes/pve/qemu/200/status/shutdown")).message).toBe("VM is paused - cannot shutdown\n")
  expect(await lab.task("POST", "/nodes/pve/qemu/200/status/shutdown", { forceStop: 1 })).toBe("OK")
  expect(lab.sim.guest(200)?.status).toBe("stopped")
})

test("a stop that overrules a shutdown ends it instead of waiting for it", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1" })
  await lab.task("POST", "/nodes/pve/qemu/200/status/start")
  const shutdown = String(await lab.ok("POST", "/nodes/pve/qemu/200/status/shutdown", { timeout: 120 }))
  lab.clock.advance(1000)
  expect(await lab.task("POST", "/nodes/pve/qemu/200/status/stop", { "overrule-shutdown": 1 })).toBe("OK")
  expect(await lab.settle(shutdown)).toBe("received interrupt")
  expect(lab.sim.guest(200)?.status).toBe("stopped")
})

test("a VM that is removed with all that refers to it leaves backup jobs, and jobs without VMs end", async () => {
  const lab = createLab()
  for (const vmid of [200, 201]) await lab.task("POST", "/nodes/pve/qemu", { vmid })
  await lab.ok("POST", "/cluster/backup", { id: "both", vmid: "200,201", schedule: "daily", storage: "local" })
  await lab.ok("POST", "/cluster/backup", { id: "one", vmid: "200", schedule: "daily", storage: "local" })
  await lab.task("DELETE", "/nodes/pve/qemu/200", { purge: 1 })
  expect(await lab.ok("GET", "/cluster/backup")).toMatchObject([{ id: "both", vmid: "201" }])
})

test("the clone of a VM without a name is named after its number", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200 })
  await lab.task("POST", "/nodes/pve/qemu/200/clone", { newid: 201 })
  expect(await lab.ok("GET", "/nodes/pve/qemu/201/config")).toMatchObject({ name: "Copy-of-VM-200" })
})

test("tasks are found by a part of their user's name in any case; a VM's terminal is a task like its screen", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200 })
  expect(await lab.ok("GET", "/nodes/pve/tasks", { userfilter: "ROOT" })).toHaveLength(1)
  const { upid } = (await lab.ok("POST", "/nodes/pve/qemu/200/termproxy")) as { upid: string }
  expect(upid).toContain(":vncproxy:200:")
})
