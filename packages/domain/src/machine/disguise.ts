import * as Schema from "effect/Schema"
import type { Hardware, DiskIdentity } from "./hardware.ts"

/** Manufacturers that a machine can claim. */
export const disguiseVendors = ["Dell", "HP", "Lenovo", "Google", "IBM"] as const
export type DisguiseVendor = (typeof disguiseVendors)[number]

/** Letters of any script and the punctuation in names of people, companies and products: nothing that ends a string or begins a command. */
const nameSigns = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} .,_()@/&+#:'-]{0,62}$/u
/** The same in ASCII, which is all that a firmware table can hold. */
const firmwareSigns = /^[A-Za-z0-9][A-Za-z0-9 .,_()@/&+#:'-]{0,62}$/u

const person = Schema.String.check(Schema.isPattern(nameSigns))
const firmware = Schema.String.check(Schema.isPattern(firmwareSigns))
/** Megahertz. */
const speed = Schema.String.check(Schema.isPattern(/^\d{2,5}$/u))

/** What a Windows machine shows in place of signs of virtualization. Absent fields are chosen, or left as they are. */
export const Disguise = Schema.Struct({
  vendor: Schema.Literals(disguiseVendors),
  product: Schema.optionalKey(firmware),
  systemBiosVersion: Schema.optionalKey(firmware),
  processorName: Schema.optionalKey(firmware),
  processorVendor: Schema.optionalKey(firmware),
  processorSpeed: Schema.optionalKey(speed),
  processorIdentifier: Schema.optionalKey(firmware),
  registeredOwner: Schema.optionalKey(person),
  registeredOrganization: Schema.optionalKey(person),
  /** Puts documents into its user's folders. */
  dropFiles: Schema.Boolean,
  /** Creates a browser history. */
  browserData: Schema.Boolean,
  /** Rewrites at each start what Windows forgets. */
  persist: Schema.Boolean,
})
export interface Disguise extends Schema.Schema.Type<typeof Disguise> {}

/** Disguises of the machines of a range, by the machine's name. */
export const Disguises = Schema.Record(Schema.String, Disguise)
export type Disguises = Readonly<Record<string, Disguise>>

interface Make {
  readonly manufacturer: string
  readonly product: string
  readonly version: string
  readonly sku: string
  readonly family: string
  readonly bios: string
}

const makes: Readonly<Record<DisguiseVendor, Make>> = {
  Dell: {
    manufacturer: "Dell Inc.",
    product: "OptiPlex 7090",
    version: "1.0",
    sku: "0A6C",
    family: "OptiPlex",
    bios: "DELL   - 1072009",
  },
  HP: {
    manufacturer: "HP",
    product: "HP EliteDesk 800 G6",
    version: "1.0",
    sku: "1D2R5UA",
    family: "103C_53307F HP EliteDesk",
    bios: "HPQOEM - 0",
  },
  Lenovo: {
    manufacturer: "LENOVO",
    product: "11DAS0BK00",
    version: "ThinkCentre M70q",
    sku: "LENOVO_MT_11DA",
    family: "ThinkCentre M70q",
    bios: "LENOVO - 1540",
  },
  Google: {
    manufacturer: "Google",
    product: "Chromebox",
    version: "rev3",
    sku: "sku7",
    family: "Google_Fizz",
    bios: "GOOGLE - 1",
  },
  IBM: {
    manufacturer: "IBM",
    product: "System x3650 M4",
    version: "05",
    sku: "7915AC1",
    family: "System x",
    bios: "IBM    - 1330",
  },
}

/** The computer's data in the firmware table and the registry. */
export const shownComputer = ({ vendor, product, systemBiosVersion }: Disguise) => {
  const make = makes[vendor]
  return { ...make, product: product ?? make.product, bios: systemBiosVersion ?? make.bios }
}

/** A serial number of letters and digits, derived deterministically from a text. */
const serialOf = (text: string, length: number): string => {
  const signs = "0123456789BCDFGHJKLMNPQRSTVWXYZ"
  let hash = 0x811c9dc5
  let out = ""
  for (let n = 0; out.length < length; n += 1) {
    for (const sign of `${text}/${n}`) hash = Math.imul(hash ^ sign.codePointAt(0)!, 0x01000193) >>> 0
    out += signs[hash % signs.length]
  }
  return out
}

/** A network card found in real computers, with a driver in every Windows since 7. */
export const disguisedNic = "e1000e"

/** What the hypervisors can currently do for a disguise. */
export interface DisguiseMeans {
  /** The hypervisor's CPU option that hides the hypervisor. */
  readonly cpu: string
  /** Whether names and serial numbers of disks can be set. */
  readonly disks: boolean
  /** What cannot be hidden here, and how to change that. */
  readonly lacks: readonly string[]
}

/** Vendor and model can be set for disks on some buses only, the serial number on all. */
const disguisedDisk = (vmid: number, { slot }: DiskIdentity): DiskIdentity => {
  const serial = `Z9${serialOf(`${vmid} ${slot}`, 6)}`
  if (slot.startsWith("scsi")) return { slot, vendor: "ATA", product: "ST1000DM010-2EP1", serial }
  if (slot.startsWith("ide")) return { slot, model: "ST1000DM010-2EP102", serial }
  return { slot, serial }
}

/** The hardware that a VM with these disks shows when disguised. */
export const disguisedHardware = (disguise: Disguise, vmid: number, { disks }: Hardware, means: DisguiseMeans): Hardware => {
  const { manufacturer, product, version, sku, family } = shownComputer(disguise)
  return {
    cpu: means.cpu,
    smbios: { manufacturer, product, version, serial: serialOf(`${vmid} ${disguise.vendor}`, 7), sku, family },
    disks: means.disks ? disks.map((disk) => disguisedDisk(vmid, disk)) : [],
  }
}
