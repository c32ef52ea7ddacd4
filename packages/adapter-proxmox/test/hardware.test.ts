import type { Hardware, MachineSettings } from "@rangewright/domain"
import { expect, test } from "vitest"
import { detailOf, settingsChange } from "../src/wire/vm-config.ts"

const config = {
  name: "ws",
  cores: 2,
  memory: 4096,
  description: "x",
  cpu: "host",
  smbios1: "uuid=ad5df567-f3df-476d-ac5f-6ea2b157a7f0",
  scsi0: "local-lvm:vm-200-disk-0,discard=on,size=32G",
  ide0: "local-lvm:vm-200-disk-1,size=1G,model=QEMU%20HARDDISK",
  sata0: "local-lvm:vm-200-disk-2,serial=ABC",
  ide2: "local:iso/windows.iso,media=cdrom",
  digest: "d",
}
const settings = (hardware?: Hardware): MachineSettings => ({
  cpus: 2,
  memoryMiB: 4096,
  balloonMiB: undefined,
  nics: [],
  description: "x",
  tags: [],
  tablet: true,
  ...(hardware && { hardware }),
})
const detail = (options: Readonly<Record<string, unknown>>) => detailOf("pve", 200 as never, options).hardware!
const after = (options: Readonly<Record<string, unknown>>, hardware: Hardware) => {
  const { delete: removed, digest: _, ...changes } = settingsChange(options, settings(hardware)) ?? {}
  const gone = String(removed ?? "").split(",")
  return Object.fromEntries(Object.entries({ ...options, ...changes }).filter(([key]) => !gone.includes(key)))
}

const dell: Hardware = {
  cpu: "custom-rangewright-bare",
  smbios: { manufacturer: "Dell Inc.", product: "a,b=c", serial: "1=2,3" },
  disks: [
    { slot: "scsi0", vendor: "ATA", product: "ST1000DM010-2EP1", serial: "Z9 %,1" },
    { slot: "ide0", model: "ST1000, yes", serial: "2" },
    { slot: "virtio7", serial: "not there" },
  ],
}

test("hardware is read as texts, whatever they are written in", () => {
  expect(detail(config)).toEqual({
    cpu: "host",
    smbios: {},
    disks: [{ slot: "scsi0" }, { slot: "sata0", serial: "ABC" }, { slot: "ide0", model: "QEMU HARDDISK" }],
  })
  expect(detail({ smbios1: "manufacturer=Plain,base64=0", scsi0: "s:v,serial=%zz" })).toMatchObject({
    smbios: { manufacturer: "Plain" },
    disks: [{ slot: "scsi0", serial: "%zz" }],
  })
})

test("hardware is written without touching a disk's volume, a VM's UUID or what is not named, and is there when it is read", () => {
  const changed = after(config, dell)
  expect(changed["scsi0"]).toBe(
    "local-lvm:vm-200-disk-0,discard=on,size=32G,vendor=ATA,product=ST1000DM010-2EP1,serial=Z9%20%25%2C1",
  )
  expect(changed).toMatchObject({ sata0: config.sata0, ide2: config.ide2 })
  expect(changed).not.toHaveProperty("virtio7")
  expect(changed["smbios1"]).toMatch(/^uuid=ad5df567-f3df-476d-ac5f-6ea2b157a7f0,manufacturer=[\w=]+,/u)
  expect(detail(changed)).toMatchObject({ cpu: dell.cpu, smbios: dell.smbios })
  expect(settingsChange(changed, settings(dell))).toBeUndefined()
})

test("what was there comes back just as it was", () => {
  const before = detail(config)
  const back = after(after(config, dell), before)
  expect(back).toMatchObject({ cpu: "host", smbios1: config.smbios1, scsi0: config.scsi0, sata0: config.sata0 })
  expect(detail(back)).toEqual(before)
  const { cpu: _, smbios1: __, ...bare } = config
  const none = after(after(bare, dell), detail(bare))
  expect(none).not.toHaveProperty("cpu")
  expect(none).not.toHaveProperty("smbios1")
})

test("without hardware in its settings a VM keeps what it has", () => {
  expect(settingsChange(config, settings())).toBeUndefined()
})
