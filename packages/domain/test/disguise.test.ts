import fc from "fast-check"
import { expect, test } from "vitest"
import {
  canBeKept,
  type Disguise,
  disguisedHardware,
  disguiseVendors,
  type Hardware,
  hardwareText,
  readDescription,
  readHardware,
  writeDescription,
} from "../src/index.ts"

const means = { cpu: "custom-rangewright-bare", disks: true, lacks: [] }
const plain: Hardware = { cpu: undefined, smbios: {}, disks: [{ slot: "scsi0" }, { slot: "virtio1" }, { slot: "ide0" }] }
const as = (vendor: Disguise["vendor"]): Disguise => ({ vendor, dropFiles: false, browserData: false, persist: false })

test("every vendor's hardware is accepted by the hypervisor, and is deterministic and unique per VM", () => {
  for (const vendor of disguiseVendors) {
    const shown = disguisedHardware({ ...as(vendor), product: "x".repeat(63) }, 200, plain, means)
    const table = Object.values(shown.smbios).reduce((sum, text) => sum + Math.ceil(text.length / 3) * 4 + 14, 41 + 9)
    expect(table).toBeLessThanOrEqual(512)
    for (const { vendor: maker = "", product = "", serial = "" } of shown.disks) {
      expect(maker).toMatch(/^[A-Za-z0-9\-_\s]{0,8}$/u)
      expect(product).toMatch(/^[A-Za-z0-9\-_\s]{0,16}$/u)
      expect(serial).toMatch(/^[A-Z0-9]{8}$/u)
    }
    expect(new Set(shown.disks.map(({ serial }) => serial)).size).toBe(3)
    expect(disguisedHardware(as(vendor), 200, shown, means)).toEqual(disguisedHardware(as(vendor), 200, plain, means))
    expect(hardwareText(disguisedHardware(as(vendor), 201, plain, means))).not.toBe(hardwareText(shown))
  }
  expect(disguisedHardware(as("HP"), 200, plain, { ...means, disks: false }).disks).toEqual([])
})

test("a mark keeps the hardware that a VM showed before, and ignores anything invalid in it", () => {
  const undisguised: Hardware = { cpu: "x86-64-v2-AES", smbios: { sku: "a" }, disks: [{ slot: "sata0", serial: "1" }] }
  const text = writeDescription({ range: "LAB" as never, machine: "ws", undisguised }, [])
  expect(readDescription(text).mark?.undisguised).toEqual(undisguised)
  const hostile = (json: unknown) => readHardware(JSON.parse(JSON.stringify(json)))
  expect(hostile({ cpu: "host,args=x y", disks: [] })).toBeUndefined()
  expect(hostile({ disks: "scsi0" })).toBeUndefined()
  expect(hostile(["scsi0"])).toBeUndefined()
  expect(
    hostile({
      smbios: { uuid: "1", product: "a\nb", sku: 5 },
      disks: [{ slot: "net0" }, { slot: "ide0", model: "x\u0000", file: "y" }],
    }),
  ).toEqual({ cpu: undefined, smbios: {}, disks: [{ slot: "ide0" }] })
})

test("the hardware that a VM showed before is restored without loss, or known not to be restorable", () => {
  const long: Hardware = {
    cpu: `host,flags=${"+aes;".repeat(60)}-hypervisor`,
    smbios: { manufacturer: "Prüfstand GmbH", serial: "a".repeat(300) },
    disks: [{ slot: "scsi0", serial: "ü" }],
  }
  expect(canBeKept(long)).toBe(true)
  const text = writeDescription({ range: "LAB" as never, machine: "ws", undisguised: long }, [])
  expect(readDescription(text).mark?.undisguised).toEqual(long)
  for (const lost of [{ cpu: "host x" }, { smbios: { serial: "a\u0007" } }, { smbios: { serial: "a".repeat(600) } }])
    expect(canBeKept({ ...plain, ...lost })).toBe(false)
})

test("whatever a description contains, reading it does not fail", () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      readHardware(value)
      return true
    }),
  )
})
