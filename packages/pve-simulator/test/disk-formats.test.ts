import { expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const config = async (lab: Lab, vmid: number) => (await lab.ok("GET", `/nodes/pve/qemu/${vmid}/config`)) as Record<string, string>

test("a folder's disks are raw unless another format is asked for; its cloud-init drives are qcow2", async () => {
  const lab = createLab()
  const disks = { scsi0: "local:1", scsi1: "local:1,format=qcow2", scsi2: "local:1,format=vmdk", ide2: "local:cloudinit" }
  expect(await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, ...disks })).toBe("OK")
  expect(await config(lab, 200)).toMatchObject({
    scsi0: "local:200/vm-200-disk-0.raw,size=1G",
    scsi1: "local:200/vm-200-disk-1.qcow2,size=1G",
    scsi2: "local:200/vm-200-disk-2.vmdk,size=1G",
    ide2: "local:200/vm-200-cloudinit.qcow2,media=cdrom",
  })
})

test("block storage has raw disks only", async () => {
  const lab = createLab()
  expect(await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1,format=qcow2" })).toContain(
    "unsupported format 'qcow2'",
  )
})

test("a full clone and a moved disk keep their format where the storage has it", async () => {
  const lab = createLab()
  await lab.ok("POST", "/storage", { storage: "other", type: "dir", path: "/other", content: "images" })
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1", scsi1: "local:1,format=qcow2" })
  const clone = async (newid: number, storage: string) => {
    expect(await lab.task("POST", "/nodes/pve/qemu/200/clone", { newid, storage })).toBe("OK")
    return await config(lab, newid)
  }
  expect(await clone(201, "other")).toMatchObject({
    scsi0: "other:201/vm-201-disk-0.raw,size=1G",
    scsi1: "other:201/vm-201-disk-1.qcow2,size=1G",
  })
  expect(await clone(202, "local-lvm")).toMatchObject({ scsi1: "local-lvm:vm-202-disk-1,size=1G" })

  const move = async (disk: string, storage: string) =>
    await lab.task("POST", "/nodes/pve/qemu/200/move_disk", { disk, storage, delete: 1 })
  for (const [disk, storage] of [
    ["scsi0", "other"],
    ["scsi1", "other"],
    ["scsi0", "local-lvm"],
  ] as const)
    expect(await move(disk, storage)).toBe("OK")
  expect(await config(lab, 200)).toMatchObject({
    scsi0: "local-lvm:vm-200-disk-0,size=1G",
    scsi1: "other:200/vm-200-disk-1.qcow2,size=1G",
  })
})

test("linked clones of a folder's disks are qcow2 files, whatever the format of the template", async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local:1" })
  expect(await lab.task("POST", "/nodes/pve/qemu/200/template")).toBe("OK")
  expect(await lab.task("POST", "/nodes/pve/qemu/200/clone", { newid: 201 })).toBe("OK")
  expect(await config(lab, 201)).toMatchObject({ scsi0: "local:200/base-200-disk-0.raw/201/vm-201-disk-0.qcow2,size=1G" })
})
