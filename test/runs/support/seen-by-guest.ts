import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

/** Options of a VM, and processor models of the cluster, as the hypervisor keeps them. */
export type Options = Readonly<Record<string, string | number>>
export type CpuModels = ReadonlyMap<string, Readonly<Record<string, string | number>>>

/** The hardware that a guest was shown. */
export interface Seen {
  /** Whether the processor reports a hypervisor; the hypervisor's own name, and the processor's. */
  readonly hypervisorBit: boolean
  readonly hypervisor: string
  readonly processor: string
  /** `8086:10d3` of each device on the first bus, in order. */
  readonly devices: readonly string[]
  readonly disk: { readonly serial: string; readonly model: string }
  /** Strings of the system's own table: manufacturer, product, version, serial number, SKU, family. */
  readonly system: readonly string[]
}

/** Machine code of guest.S, for the first sector of a disk. */
const program = Buffer.from(
  [
    "fa31c08ed88ed0bc007cfcbec87c66ad6683f8ff74236631c90fa26652665166536650e8810066586658e87a006658e875006658e87000ebd566bd00",
    "0000806689ebe8550067668d5d08e84d0067668d5d2ce845006681c5000100006681fd0000018072dabaf601b0a0eebaf701b0eceeeca80874fbbaf0",
    "01b90001ed52e82d005ae2f8b800f08ed831f6ace82a0085f675f8b0fee664f4ebfdbaf80c6689d866efbafc0c66ede8040066c1e808e8080066c1e8",
    "08e80100c350bafd03eca82074fb58baf803eec30100000000000040020000800300008004000080ffffffff",
  ].join(""),
  "hex",
)

const pairs = (value: string): ReadonlyMap<string, string> =>
  new Map(value.split(",").map((part) => [part.split("=")[0] ?? "", part.split("=").slice(1).join("=")]))
const escaped = (value: string): string => value.replaceAll(",", ",,")

/** Without KVM there is no host processor to pass through: this one stands for it. What hides KVM hides the emulator here. */
const ownCpu = "Skylake-Client-v1"
const cpuArguments = (cpu: string, models: CpuModels): string => {
  const model = models.get(cpu.replace(/^custom-/u, ""))
  const flags = String(model?.["flags"] ?? "")
    .split(";")
    .filter(Boolean)
  const isHidden = model === undefined ? cpu.includes("hidden=1") : model["hidden"] === 1
  return [ownCpu, ...flags, ...(isHidden ? ["kvm=off", "tcg-cpuid=off"] : [])].join(",")
}

/** The part of `qm showcmd` that concerns a disguise: the same arguments from the same options. */
const argumentsFor = (options: Options, models: CpuModels, disk: string): readonly string[] => {
  const smbios = pairs(String(options["smbios1"] ?? ""))
  const isCoded = smbios.get("base64") === "1"
  const table = [...smbios].flatMap(([name, value]) => {
    if (name === "base64") return []
    return [`${name}=${escaped(isCoded && name !== "uuid" ? Buffer.from(value, "base64").toString() : value)}`]
  })
  const device = (...words: readonly string[]) => ["-device", words.join(",")]
  const identity = (value: string): readonly string[] =>
    ["serial", "model"].flatMap((name) => {
      const is = pairs(value).get(name)
      return is === undefined ? [] : [`${name}=${escaped(decodeURIComponent(is))}`]
    })
  const cards: Readonly<Record<string, string>> = { virtio: "virtio-net-pci" }
  return [
    "-machine",
    "pc",
    "-cpu",
    cpuArguments(String(options["cpu"] ?? ""), models),
    "-vga",
    "std",
    ...(table.length === 0 ? [] : ["-smbios", `type=1,${table.join(",")}`]),
    ...(options["balloon"] === 0 ? [] : device("virtio-balloon-pci")),
    ...Object.entries(options).flatMap(([key, value]) => {
      const [[model, mac] = ["", ""]] = [...pairs(String(value))]
      if (/^net\d+$/u.test(key)) return device(cards[model] ?? model, `mac=${mac}`)
      if (key === "ide0")
        return [
          "-drive",
          `file=${disk},format=raw,if=none,id=ide0`,
          ...device("ide-hd", "bus=ide.0", "unit=0", "drive=ide0", ...identity(String(value))),
        ]
      return []
    }),
  ]
}

const words = (bytes: Buffer): string => Buffer.from(bytes).swap16().toString("latin1").trim()

/** Strings of the firmware's table of type 1 (SMBIOS 2, 5.2.1 and 7.2). */
const systemTable = (firmware: Buffer): readonly string[] => {
  const entry = firmware.indexOf("_SM_")
  const start = firmware.readUInt32LE(entry + 0x18) - 0xf0000
  const tables = firmware.subarray(start, start + firmware.readUInt16LE(entry + 0x16))
  for (let at = 0; at >= 0 && at < tables.length; at = tables.indexOf("\0\0", at + tables[at + 1]!) + 2)
    if (tables[at] === 1) {
      const texts = tables
        .subarray(at + tables[at + 1]!, tables.indexOf("\0\0", at + tables[at + 1]!))
        .toString("latin1")
        .split("\0")
      return [4, 5, 6, 7, 25, 26].map((field) => texts[tables[at + field]! - 1] ?? "")
    }
  return []
}

const leaves = 5
const functions = 256

const read = (told: Buffer): Seen => {
  const ofLeaf = (n: number) => told.subarray(n * 16, n * 16 + 16)
  const devices = Array.from({ length: functions }, (_, n) => leaves * 16 + n * 12)
    .map((at) => [told.readUInt16LE(at), told.readUInt16LE(at + 2)] as const)
    .filter(([vendor]) => vendor !== 0xffff)
    .map((ids) => ids.map((id) => id.toString(16).padStart(4, "0")).join(":"))
  const disk = told.subarray(leaves * 16 + functions * 12).subarray(0, 512)
  return {
    hypervisorBit: (ofLeaf(0).readUInt32LE(8) & 0x80000000) !== 0,
    hypervisor: ofLeaf(1).subarray(4).toString("latin1").replaceAll("\0", ""),
    processor: told.subarray(32, 80).toString("latin1").replaceAll("\0", ""),
    devices,
    disk: { serial: words(disk.subarray(20, 40)), model: words(disk.subarray(54, 94)) },
    system: systemTable(told.subarray(leaves * 16 + functions * 12 + 512)),
  }
}

/** Starts a guest with these options, without KVM, and returns what it saw. Takes a second. */
export const seenByGuest = async (options: Options, models: CpuModels): Promise<Seen> => {
  const folder = await mkdtemp(join(tmpdir(), "seen-by-guest-"))
  try {
    const sector = Buffer.alloc(1024 * 1024)
    program.copy(sector)
    sector.writeUInt16LE(0xaa55, 510)
    const [disk, told] = [join(folder, "disk"), join(folder, "told")]
    await writeFile(disk, sector)
    const fixed = ["-accel", "tcg", "-m", "64", "-nodefaults", "-display", "none", "-no-reboot", "-serial", `file:${told}`]
    await promisify(execFile)("/usr/bin/qemu-system-x86_64", [...fixed, ...argumentsFor(options, models, disk)], {
      timeout: 60_000,
    })
    return read(await readFile(told))
  } finally {
    await rm(folder, { recursive: true })
  }
}
