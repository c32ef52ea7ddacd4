import { expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const config = async (lab: Lab, vmid: number) => (await lab.ok("GET", `/nodes/pve/qemu/${vmid}/config`)) as Record<string, string>
const move = async (lab: Lab, parameters: Record<string, unknown>) =>
  await lab.call("POST", "/nodes/pve/qemu/200/move_disk", parameters)

const labWithVms = async () => {
  const lab = createLab()
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, scsi0: "local-lvm:1", scsi1: "local-lvm:2", ide2: "none,media=cdrom" })
  await lab.task("POST", "/nodes/pve/qemu", { vmid: 201, scsi0: "local-lvm:1" })
  return lab
}

test("a disk moves to another VM, with its volume renamed", async () => {
  const lab = await labWithVms()
  const upid = String((await move(lab, { disk: "scsi1", "target-vmid": 201, "target-disk": "virtio3" })).data)
  expect(await lab.settle(upid)).toBe("OK")
  expect(await config(lab, 200)).not.toHaveProperty("scsi1")
  expect(await config(lab, 201)).toMatchObject({ virtio3: "local-lvm:vm-201-disk-1,size=2G" })
})

test("a disk is not moved to a VM that is missing, has one there, or is a template", async () => {
  const lab = await labWithVms()
  const refusal = async (parameters: Record<string, unknown>) => (await move(lab, { disk: "scsi1", ...parameters })).message
  expect(await refusal({ "target-vmid": 999 })).toBe("could not find target VM 999\n")
  expect(await refusal({ "target-vmid": 201, "target-disk": "scsi0" })).toBe(
    "Target disk key 'scsi0' is already in use for VM '201'\n",
  )
  expect(await refusal({ "target-vmid": 100 })).toBe("Can't move disks from or to template VMs\n")
  expect((await move(lab, { disk: "scsi1", "target-vmid": 201, storage: "local" })).errors).toHaveProperty("storage")
})

test("a disk is not moved where disks are not allowed, as a disc, from an older version, or without its snapshots", async () => {
  const lab = await labWithVms()
  await lab.ok("POST", "/storage", { storage: "discs", type: "dir", path: "/discs", content: "iso" })
  expect((await move(lab, { disk: "scsi0", storage: "discs" })).errors).toEqual({
    storage: "storage 'discs' does not support vm images",
  })
  expect((await move(lab, { disk: "ide2", storage: "local" })).message).toBe("you can't move a cdrom\n")
  expect((await move(lab, { disk: "scsi0", storage: "local", digest: "0" })).message).toBe(
    "detected modified configuration - file changed by other user? Try again.\n",
  )
  await lab.task("POST", "/nodes/pve/qemu/200/snapshot", { snapname: "one" })
  expect((await move(lab, { disk: "scsi0", storage: "local", delete: 1 })).message).toBe(
    "you can't move a disk with snapshots and delete the source\n",
  )
})
