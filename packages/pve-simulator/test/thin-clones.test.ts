import { expect, test } from "vitest"
import { createLab } from "./support/client.ts"

test("a thin pool does not know what its clones come from: their template may be removed, and they stay", async () => {
  const lab = createLab()
  expect(await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })).toBe("OK")
  const volumes = (await lab.ok("GET", "/nodes/pve/storage/local-lvm/content")) as Record<string, unknown>[]
  const clone = volumes.find(({ vmid }) => vmid === 200)
  expect(Object.keys(clone!).toSorted()).toEqual(["content", "ctime", "format", "size", "vmid", "volid"])
  expect(await lab.task("DELETE", "/nodes/pve/qemu/101")).toBe("OK")
  expect(await lab.task("POST", "/nodes/pve/qemu/200/status/start")).toBe("OK")
})

test("linked clones of a snapshot are made where the storage has them", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1" })
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 201, scsi0: "local:1,format=qcow2" })
  for (const vmid of [200, 201]) await lab.task("POST", `/nodes/pve/qemu/${vmid}/snapshot`, { snapname: "one" })
  const clone = async (vmid: number, parameters: Record<string, unknown>) =>
    await lab.call("POST", `/nodes/pve/qemu/${vmid}/clone`, { newid: vmid + 100, full: 0, ...parameters })
  expect(await lab.settle(String((await clone(200, { snapname: "one" })).data))).toBe("OK")
  expect((await clone(200, { newid: 310 })).message).toBe(
    "Linked clone feature is not supported for 'local-lvm:vm-200-disk-0' (scsi0)\n",
  )
  expect((await clone(201, { snapname: "one" })).message).toBe(
    "Linked clone feature is not supported for 'local:201/vm-201-disk-0.qcow2' (scsi0)\n",
  )
})
