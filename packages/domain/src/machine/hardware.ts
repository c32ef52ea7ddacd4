/** What a disk says of itself. Absent members: what the hypervisor says of every disk. */
export interface DiskIdentity {
  /** Where it is plugged in: `scsi0`. */
  readonly slot: string
  readonly vendor?: string | undefined
  readonly product?: string | undefined
  readonly model?: string | undefined
  readonly serial?: string | undefined
}

/** What a VM shows of its processor, its mainboard and its disks. */
export interface Hardware {
  /** The processor, as the hypervisor's option has it; undefined: the hypervisor's default. */
  readonly cpu?: string | undefined
  /** Texts of the system's own table (SMBIOS type 1) by their names, without the UUID, which is the VM's. */
  readonly smbios: Readonly<Record<string, string>>
  readonly disks: readonly DiskIdentity[]
}

/** The texts of SMBIOS type 1 that can be set. */
export const smbiosTexts = ["manufacturer", "product", "version", "serial", "sku", "family"] as const

/** The members of a disk's identity. */
export const diskTexts = ["vendor", "product", "model", "serial"] as const

const inOrder = (texts: Readonly<Record<string, string | undefined>>, names: readonly string[]): string =>
  names.flatMap((name) => (texts[name] === undefined ? [] : [`${name}=${texts[name]}`])).join(" ")

/** The hardware in words, which are equal where it is. `slots`: the disks that count; absent: all. */
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
/** A text of the hypervisor's, which is written back as it was. */
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

/** Whether all of it comes back from what is written down of it. */
export const canBeKept = (hardware: Hardware): boolean => {
  const kept = readHardware(JSON.parse(JSON.stringify(hardware)))
  return kept !== undefined && hardwareText(kept) === hardwareText(hardware)
}

/** Hardware that was written down as JSON; undefined for anything else. What is no proper text in it is left out. */
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
