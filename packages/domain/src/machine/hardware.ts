/** The identity that a disk reports. Absent fields: the hypervisor's default. */
export interface DiskIdentity {
  /** The slot it is attached to: `scsi0`. */
  readonly slot: string
  readonly vendor?: string | undefined
  readonly product?: string | undefined
  readonly model?: string | undefined
  readonly serial?: string | undefined
}

/** The processor, mainboard and disks that a VM shows. */
export interface Hardware {
  /** The hypervisor's CPU option; undefined: the hypervisor's default. */
  readonly cpu?: string | undefined
  /** Texts of SMBIOS type 1 by name, without the UUID, which belongs to the VM. */
  readonly smbios: Readonly<Record<string, string>>
  readonly disks: readonly DiskIdentity[]
}

/** The fields of SMBIOS type 1 that can be set. */
export const smbiosTexts = ["manufacturer", "product", "version", "serial", "sku", "family"] as const

/** The fields of a disk's identity. */
export const diskTexts = ["vendor", "product", "model", "serial"] as const

const inOrder = (texts: Readonly<Record<string, string | undefined>>, names: readonly string[]): string =>
  names.flatMap((name) => (texts[name] === undefined ? [] : [`${name}=${texts[name]}`])).join(" ")

/** Describes the hardware; equal hardware gives equal texts. `slots`: the disks to include; absent: all. */
export const hardwareText = ({ cpu, smbios, disks }: Hardware, slots?: ReadonlySet<string>): string =>
  [
    `processor ${cpu ?? "as by default"}`,
    inOrder(smbios, smbiosTexts),
    ...disks
      .filter(({ slot }) => slots === undefined || slots.has(slot))
      .toSorted((a, b) => (a.slot < b.slot ? -1 : 1))
      .map((disk) => `${disk.slot} ${inOrder({ ...disk }, diskTexts)}`.trim()),
  ]
    .filter((text) => text !== "")
    .join("; ")

const cpuPattern = /^[A-Za-z0-9][\w.,=+;-]{0,1023}$/u
const slotPattern = /^(?:scsi|virtio|sata|ide)\d{1,2}$/u
/** A text from the hypervisor, which is written back unchanged. */
const plain = /^[^\p{Cc}\p{Cs}]{1,512}$/u

const asRecord = (u: unknown): Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u) ? (u as Readonly<Record<string, unknown>>) : {}
const textsOf = (of: unknown, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = asRecord(of)[name]
      return typeof value === "string" && plain.test(value) ? [[name, value] as const] : []
    }),
  )

/** Whether the hardware survives being stored as JSON without loss. */
export const canBeKept = (hardware: Hardware): boolean => {
  const kept = readHardware(JSON.parse(JSON.stringify(hardware)))
  return kept !== undefined && hardwareText(kept) === hardwareText(hardware)
}

/** Reads hardware that was stored as JSON; undefined for anything else. Invalid texts are left out. */
export const readHardware = (json: unknown): Hardware | undefined => {
  const { cpu, smbios, disks } = asRecord(json)
  if (!Array.isArray(disks) || (cpu !== undefined && (typeof cpu !== "string" || !cpuPattern.test(cpu)))) return undefined
  return {
    cpu,
    smbios: textsOf(smbios, smbiosTexts),
    disks: disks.flatMap((disk: unknown): readonly DiskIdentity[] => {
      const { slot } = asRecord(disk)
      return typeof slot === "string" && slotPattern.test(slot) ? [{ slot, ...textsOf(disk, diskTexts) }] : []
    }),
  }
}
