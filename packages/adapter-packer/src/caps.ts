/** Limits for all VMs of one build together. */
export interface BuildCaps {
  readonly vms: number
  readonly cores: number
  readonly memoryMiB: number
  /** Disks and uploaded images. */
  readonly diskBytes: number
}

/** Resources that a call gives a VM. Maxima, since builds add resources and never take any away. */
export interface Wanted {
  readonly cores?: number
  readonly sockets?: number
  readonly memoryMiB?: number
  /** New disks by device, in bytes. A second one for a device does not replace the first. */
  readonly disks?: ReadonlyMap<string, number>
  /** A disk that grows to this size, or by this much. */
  readonly grown?: { readonly device: string; readonly to: number } | { readonly by: number }
  /** Disks not yet attached to a device. */
  readonly loose?: number
}

/** A call whose resources cannot be determined. */
export class Uncounted extends Error {}

const gib = 1024 ** 3
const units: Readonly<Record<string, number>> = { "": 1, K: 1024, M: 1024 ** 2, G: gib, T: 1024 ** 4 }

/** `32G` in bytes; a number without a unit is in units of `usual`. */
export const sizeIn = (text: string, usual = 1): number => {
  const [, number, unit = ""] = /^(\d{1,15}(?:\.\d{1,9})?)([KMGT]?)$/u.exec(text) ?? []
  if (number === undefined) throw new Uncounted(`${JSON.stringify(text.slice(0, 50))} is not a size`)
  return Number(number) * (unit === "" ? usual : (units[unit] ?? 1))
}

const wholeNumber = (name: string, text: string): number => {
  if (!/^\d{1,9}$/u.test(text)) throw new Uncounted(`${name} ${JSON.stringify(text.slice(0, 50))} is not a whole number`)
  return Number(text)
}

const isDisk = /^(?:ide|sata|scsi|virtio|efidisk|tpmstate|unused)\d+$/u

/** The size of a new disk for a device; undefined when an existing disk is attached. */
const newDisk = (device: string, value: string): number | undefined => {
  let bytes: number | undefined
  for (const part of value.split(",")) {
    if (part.startsWith("import-from=")) throw new Uncounted(`${device} imports a disk, which builds may not do`)
    const [, size] = /^(?:(?:file|volume)=)?(?:[^/:\s=]+:)?(\d{1,15}(?:\.\d{1,9})?)$/u.exec(part) ?? []
    if (size !== undefined) bytes = Math.max(bytes ?? 0, Number(size) * gib)
  }
  return bytes
}

/** The resources in the configuration that a call sends. */
export const wantedBy = (fields: ReadonlyMap<string, string>): Wanted => {
  const given = <A>(name: string, read: (text: string) => A): A | undefined => {
    const text = fields.get(name)
    return text === undefined ? undefined : read(text)
  }
  if (fields.has("archive")) throw new Uncounted("it restores a backup, which builds may not do")
  const disks = new Map<string, number>()
  for (const [name, value] of fields) {
    const bytes = isDisk.test(name) ? newDisk(name, value) : undefined
    if (bytes !== undefined) disks.set(name, bytes)
  }
  const cores = given("cores", (text) => wholeNumber("cores", text))
  const sockets = given("sockets", (text) => wholeNumber("sockets", text))
  const memoryMiB = given("memory", (text) => wholeNumber("memory", text.replace(/^current=/u, "")))
  return {
    ...(cores === undefined ? {} : { cores }),
    ...(sockets === undefined ? {} : { sockets }),
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    disks,
  }
}

/** The resources of an existing VM, as the hypervisor shows it: a clone has the same. */
export const wantedLike = (config: Readonly<Record<string, unknown>>): Wanted => {
  const disks = new Map<string, number>()
  const rest = new Map<string, string>()
  for (const [name, given] of Object.entries(config)) {
    const value = String(given)
    if (["cores", "sockets", "memory"].includes(name)) rest.set(name, value)
    if (!isDisk.test(name) || value.split(",").includes("media=cdrom")) continue
    const size = /(?:^|,)size=([^,]+)/u.exec(value)?.[1]
    if (size !== undefined) disks.set(name, sizeIn(size))
  }
  return { ...wantedBy(rest), disks }
}

/** The growth that a call requests for a disk. */
export const grownBy = (fields: ReadonlyMap<string, string>): Wanted => {
  const size = fields.get("size") ?? ""
  if (size.startsWith("+")) return { grown: { by: sizeIn(size.slice(1)) } }
  return { grown: { device: fields.get("disk") ?? "", to: sizeIn(size) } }
}

interface Machine {
  /** Whether there is, or may be, such a VM, rather than just disks. */
  there: boolean
  /** Unanswered calls that create it. */
  making: number
  /** Whether it is being removed. */
  leaving: boolean
  cores: number
  sockets: number
  memoryMiB: number
  bytes: number
  readonly disks: Map<string, number>
}

/** Resources reserved for a call. */
export interface Kept {
  /** Called when the hypervisor has done it or refused it. If never called, the result is unknown, and the resources stay reserved. */
  readonly answered: (done: boolean) => void
}

const inWords = (bytes: number): string => `${Math.ceil(bytes / gib)} GiB`

/**
 * Counts the resources of a build from its calls. They are reserved before a call is passed on, and released if it is refused. `isGone`:
 * whether the hypervisor no longer has a VM of this number.
 */
export const openCaps = (caps: BuildCaps, isGone: (vmid: string) => Promise<boolean>) => {
  const machines = new Map<string, Machine>()
  const images = new Map<string, number>()

  const machineOf = (vmid: string): Machine => {
    const known = machines.get(vmid)
    if (known !== undefined) return known
    // the hypervisor's defaults for a new VM
    const fresh = { there: false, making: 0, leaving: false, cores: 1, sockets: 1, memoryMiB: 512, bytes: 0, disks: new Map() }
    machines.set(vmid, fresh)
    return fresh
  }

  /** Which limit is exceeded; undefined when none is. */
  const excess = (): string | undefined => {
    const all = [...machines.values()]
    const vms = all.filter(({ there, making }) => there || making > 0)
    const sum = (of: readonly Machine[], what: (machine: Machine) => number) => of.reduce((total, one) => total + what(one), 0)
    const cores = sum(vms, (one) => one.cores * one.sockets)
    const memory = sum(vms, ({ memoryMiB }) => memoryMiB)
    const bytes = sum(all, (one) => one.bytes) + [...images.values()].reduce((total, size) => total + size, 0)
    if (vms.length > caps.vms) return `${vms.length} VMs, but template_build_vms allows a build ${caps.vms}`
    if (cores > caps.cores) return `${cores} cores, but template_build_cores allows a build ${caps.cores}`
    if (memory > caps.memoryMiB)
      return `${inWords(memory * 1024 ** 2)} of memory, but template_build_memory allows a build ${inWords(caps.memoryMiB * 1024 ** 2)}`
    if (bytes > caps.diskBytes)
      return `${inWords(bytes)} of disks and images, but template_build_disk allows a build ${inWords(caps.diskBytes)}`
    return undefined
  }

  /** Forgets VMs that are gone. */
  const sweep = async (): Promise<void> => {
    for (const [vmid, machine] of machines)
      if (machine.leaving && machine.making === 0 && (await isGone(vmid))) machines.delete(vmid)
  }

  const bytesOf = (machine: Machine, { disks = new Map(), grown, loose = 0 }: Wanted): number => {
    let bytes = loose
    for (const size of disks.values()) bytes += size
    if (grown === undefined) return bytes
    return bytes + ("by" in grown ? grown.by : Math.max(0, grown.to - (machine.disks.get(grown.device) ?? 0)))
  }

  const count = (vmid: string, wanted: Wanted, makes: boolean): Kept | string => {
    const machine = machineOf(vmid)
    const before = { cores: machine.cores, sockets: machine.sockets, memoryMiB: machine.memoryMiB }
    const bytes = bytesOf(machine, wanted)
    machine.bytes += bytes
    machine.making += makes ? 1 : 0
    machine.cores = Math.max(machine.cores, wanted.cores ?? 0)
    machine.sockets = Math.max(machine.sockets, wanted.sockets ?? 0)
    machine.memoryMiB = Math.max(machine.memoryMiB, wanted.memoryMiB ?? 0)
    const undo = () => {
      machine.bytes -= bytes
      machine.making -= makes ? 1 : 0
      if (!machine.there && machine.making === 0 && machine.bytes === 0) machines.delete(vmid)
    }
    const because = excess()
    if (because !== undefined) {
      undo()
      Object.assign(machine, before)
      return because
    }
    return {
      answered: (done) => {
        if (!done) return undo()
        const { disks = new Map<string, number>(), grown } = wanted
        for (const [device, size] of disks) machine.disks.set(device, size)
        if (grown !== undefined && "to" in grown)
          machine.disks.set(grown.device, Math.max(grown.to, machine.disks.get(grown.device) ?? 0))
        if (makes) Object.assign(machine, { there: true, leaving: false, making: machine.making - 1 })
      },
    }
  }

  return {
    /** Whether the build has a VM, or may have one. */
    hasMachine: (): boolean => [...machines.values()].some(({ there, making }) => there || making > 0),
    /** Reserves resources for a call about a VM; a string says why there are none left. */
    keep: async (vmid: string, wanted: Wanted, makes = false): Promise<Kept | string> => {
      await sweep()
      return count(vmid, wanted, makes)
    },
    /** Reserves space for an image, which replaces one of the same name. */
    keepImage: (name: string, size: number): Kept | string => {
      const before = images.get(name)
      images.set(name, Math.max(before ?? 0, size))
      const undo = () => (before === undefined ? images.delete(name) : images.set(name, before))
      const because = excess()
      if (because === undefined) return { answered: (done) => void (done || undo()) }
      undo()
      return because
    },
    /** Called when the hypervisor has started to remove the VM. */
    leaves: (vmid: string): void => {
      const machine = machines.get(vmid)
      if (machine !== undefined) machine.leaving = true
    },
    withoutImage: (name: string): void => void images.delete(name),
  }
}
