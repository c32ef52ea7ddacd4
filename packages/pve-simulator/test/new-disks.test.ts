import { expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

const config = async (lab: Lab, vmid: number) => (await lab.ok("GET", `/nodes/pve/qemu/${vmid}/config`)) as Record<string, string>

test("a disk for EFI variables and one for a TPM have 4 MiB, whatever size is asked for", async () => {
  const lab = createLab()
  const small = { efidisk0: "local-lvm:1,efitype=4m,pre-enrolled-keys=1", tpmstate0: "local-lvm:8,version=v2.0" }
  expect(await lab.task("POST", "/nodes/pve/qemu", { vmid: 200, ...small })).toBe("OK")
  expect(await config(lab, 200)).toMatchObject({
    efidisk0: "local-lvm:vm-200-disk-0,efitype=4m,ms-cert=2023k,pre-enrolled-keys=1,size=4M",
    tpmstate0: "local-lvm:vm-200-disk-1,size=4M,version=v2.0",
  })
})

test("a new VM boots from its first disk (IDE, SCSI, VirtIO, SATA), then its first disc drive, then its first card", async () => {
  const lab = createLab()
  const boots = async (vmid: number, drives: Record<string, string>) => {
    expect(await lab.task("POST", "/nodes/pve/qemu", { vmid, ...drives })).toBe("OK")
    return (await config(lab, vmid))["boot"]
  }
  const disk = "local-lvm:1"
  expect(await boots(200, { sata0: disk, scsi10: disk, scsi2: disk, net10: "virtio", net2: "virtio" })).toBe("order=scsi2;net2")
  expect(await boots(201, { efidisk0: `${disk},efitype=4m`, tpmstate0: disk, virtio0: disk })).toBe("order=virtio0")
  expect(await boots(202, { scsi0: disk, ide2: "local-lvm:cloudinit", net0: "virtio" })).toBe("order=scsi0;ide2;net0")
})

test("an imported disk has the image's size; what cannot be imported is refused", async () => {
  const lab = createLab()
  const fetched = await lab.task("POST", "/nodes/pve/storage/local/download-url", {
    url: "https://images.example/cloud.qcow2",
    content: "import",
    filename: "cloud.qcow2",
  })
  expect(fetched).toBe("OK")
  const create = async (vmid: number, scsi0: string) => await lab.call("POST", "/nodes/pve/qemu", { vmid, scsi0 })
  const image = "import-from=local:import/cloud.qcow2"
  expect(await lab.settle(String((await create(200, `local-lvm:0,${image},discard=on`)).data))).toBe("OK")
  expect(await config(lab, 200)).toMatchObject({ scsi0: "local-lvm:vm-200-disk-0,discard=on,size=512M" })
  expect(await lab.settle(String((await create(201, "local:0,format=qcow2,import-from=local-lvm:vm-200-disk-0")).data))).toBe(
    "OK",
  )
  expect(await config(lab, 201)).toMatchObject({ scsi0: "local:201/vm-201-disk-0.qcow2,size=512M" })

  expect((await create(202, `local-lvm:8,${image}`)).errors).toEqual({
    scsi0: "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>",
  })
  expect((await create(202, "local-lvm:0,import-from=local:iso/a.iso")).errors).toEqual({
    scsi0: "local:iso/a.iso has wrong type 'iso' - needs to be 'images' or 'import'",
  })
  expect(await lab.settle(String((await create(202, "local-lvm:0,import-from=local:import/none.qcow2")).data))).toContain(
    "cannot import from 'local:import/none.qcow2' - ",
  )
})
