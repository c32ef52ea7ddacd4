import {
  macOf,
  type MachineSettings,
  type Nic,
  type RangeId,
  readDescription,
  type Vmid,
  writeDescription,
} from "@rangewright/domain"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Params } from "../src/client/form.ts"
import { machineOf, nodeOf, pick, storageOf } from "../src/wire/cluster.ts"
import { recordOf, rows } from "../src/wire/read.ts"
import { detailOf, settingsChange } from "../src/wire/vm-config.ts"

const mark = { range: "LAB" as RangeId, machine: "LAB-web" }

const nic = (index: number): fc.Arbitrary<Nic> =>
  fc.record({
    index: fc.constant(index),
    model: fc.constantFrom("virtio", "e1000"),
    mac: fc.integer({ min: 100, max: 999_999 }).map((vmid) => macOf(vmid, index)),
    bridge: fc.constantFrom("vmbr0", "vmbr1001", "r7"),
    tag: fc.option(fc.integer({ min: 2, max: 4094 }), { nil: undefined }),
    firewall: fc.boolean(),
  })

const settings: fc.Arbitrary<MachineSettings> = fc.record({
  cpus: fc.integer({ min: 1, max: 64 }),
  memoryMiB: fc.integer({ min: 16, max: 1_000_000 }),
  balloonMiB: fc.option(fc.integer({ min: 0, max: 4096 }), { nil: undefined }),
  nics: fc.integer({ min: 0, max: 6 }).chain((n) => fc.tuple(...Array.from({ length: n }, (_, index) => nic(index)))),
  description: fc.array(fc.string()).map((groups) => writeDescription(mark, groups)),
  tags: fc.uniqueArray(fc.constantFrom("rangewright", "alpha", "beta-2", "x.y"), { maxLength: 4 }),
  tablet: fc.boolean(),
})

const config = fc.dictionary(
  fc.constantFrom(
    "cores",
    "sockets",
    "memory",
    "balloon",
    "net0",
    "net1",
    "net9",
    "description",
    "tags",
    "tablet",
    "scsi0",
    "digest",
  ),
  fc.oneof(
    fc.integer({ min: 0, max: 8192 }),
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "virtio=02:00:00:00:64:00,bridge=vmbr0,tag=10",
      "512",
      "local:base-100-disk-0,size=8G",
      "a;b",
      "1",
      "current=2048",
    ),
    fc.jsonValue(),
  ),
)

/** The configuration after a PUT, as the server echoes it: texts for numbers, sorted tags, a line end after the description. */
const applied = (before: Record<string, unknown>, change: Params): Record<string, unknown> => {
  const { delete: removed, ...set } = change
  const echoed = Object.entries(set).map(([key, value]): readonly [string, unknown] => {
    if (key === "tags" && typeof value === "string") return [key, value.split(",").toSorted().join(";")]
    if (key === "description" && typeof value === "string") return [key, `${value}\n`]
    if (key === "memory" && typeof value === "number") return [key, value.toString()]
    return [key, typeof value === "boolean" ? Number(value) : value]
  })
  const gone = typeof removed === "string" ? removed.split(",") : []
  const kept = Object.entries(before).filter(([key]) => !gone.includes(key))
  return { ...Object.fromEntries(kept), ...Object.fromEntries(echoed) }
}

describe("settings of a machine", () => {
  it("reach in one change whatever configuration they meet, and then nothing is left to change", () => {
    fc.assert(
      fc.property(config, settings, (before, want) => {
        const change = settingsChange(before, want)
        const after = change === undefined ? before : applied(before, change)
        expect(settingsChange(after, want)).toBeUndefined()
        const detail = detailOf("pve", 100 as Vmid, after)
        expect(detail).toMatchObject({ cpus: want.cpus, memoryMiB: want.memoryMiB, balloonMiB: want.balloonMiB })
        expect(detail.nics).toEqual(want.nics)
        expect(readDescription(detail.description)).toEqual(readDescription(want.description))
      }),
    )
  })

  it("carry the digest of what they were compared with, and take off what is not wanted", () => {
    const want = { cpus: 1, memoryMiB: 512, balloonMiB: undefined, nics: [], description: "", tags: [], tablet: true }
    const change = settingsChange(
      { memory: "512", balloon: 0, net1: "virtio=02:00:00:00:64:01,bridge=vmbr0", digest: "abc" },
      want,
    )
    expect(change).toEqual({ delete: "balloon,net1", digest: "abc" })
  })
})

describe("a description", () => {
  const want = {
    cpus: 1,
    memoryMiB: 512,
    balloonMiB: undefined,
    nics: [],
    description: writeDescription(mark, ["web"]),
    tags: [],
    tablet: true,
  }

  it("is not written when only its notes differ", () => {
    for (const live of [want.description, `note\n${want.description}\n`, `${want.description}\nnote\n`])
      expect(settingsChange({ description: live }, want)).toBeUndefined()
  })

  it("keeps the notes that it has when our line changes, with the digest of what was read", () => {
    const live = `above\n${writeDescription(mark, [])}\nbelow`
    expect(settingsChange({ description: live, digest: "abc" }, want)).toEqual({
      description: `above\n${want.description}\nbelow`,
      digest: "abc",
    })
  })
})

describe("a network card", () => {
  const mac = "02:00:00:4E:20:00"
  const cardOf = (before: string | undefined, want: Partial<Nic>): unknown =>
    settingsChange(before === undefined ? {} : { net0: before }, {
      cpus: 1,
      memoryMiB: 512,
      balloonMiB: undefined,
      nics: [{ index: 0, model: "virtio", mac, bridge: "r7", tag: 10, firewall: false, ...want }],
      description: "",
      tags: [],
      tablet: true,
    })?.["net0"]

  it("that is new or replaces the template's takes the MTU of its network: a VXLAN carries 50 bytes less than a guest assumes", () => {
    for (const before of [undefined, "virtio=BC:24:11:00:00:01,bridge=vmbr0", `e1000=${mac},bridge=r7,tag=10`])
      expect(cardOf(before, {})).toBe(`virtio=${mac},bridge=r7,tag=10,mtu=1`)
  })

  it("of a kind that cannot be told an MTU has none", () => {
    expect(cardOf(undefined, { model: "e1000" })).toBe(`e1000=${mac},bridge=r7,tag=10`)
  })

  it("that moves keeps what others have set on it, and no MTU is added: it would be unplugged from the running machine", () => {
    expect(cardOf(`virtio=${mac},bridge=r7,tag=20`, {})).toBe(`virtio=${mac},bridge=r7,tag=10`)
    expect(cardOf(`virtio=${mac},bridge=vmbr0,firewall=1,mtu=1,queues=4,rate=10,tag=10`, {})).toBe(
      `virtio=${mac},bridge=r7,tag=10,mtu=1,queues=4,rate=10`,
    )
    expect(cardOf(`model=virtio,macaddr=${mac.toLowerCase()},bridge=vmbr0,link_down=1`, {})).toBe(
      `virtio=${mac},bridge=r7,tag=10,link_down=1`,
    )
  })
})

describe("a configuration", () => {
  it("is read with numbers as texts, sockets, property strings and the storage of its first disk", () => {
    const detail = detailOf("pve", 100 as Vmid, {
      name: "dc",
      cores: 2,
      sockets: "2",
      memory: "current=2048",
      net0: "e1000=AA:BB:CC:00:11:22,bridge=vmbr1001,firewall=1,tag=10",
      net3: "model=virtio,macaddr=aa:bb:cc:00:11:33,bridge=r7",
      ide2: "none,media=cdrom",
      ide0: "local:cloudinit,media=cdrom",
      virtio0: "vmstore:base-100-disk-0/vm-101-disk-0,size=32G",
      lock: "clone",
    })
    expect(detail).toMatchObject({
      name: "dc",
      cpus: 4,
      memoryMiB: 2048,
      storage: "vmstore",
      lock: "clone",
      balloonMiB: undefined,
    })
    expect(detail.nics).toEqual([
      { index: 0, model: "e1000", mac: "AA:BB:CC:00:11:22", bridge: "vmbr1001", tag: 10, firewall: true },
      { index: 3, model: "virtio", mac: "AA:BB:CC:00:11:33", bridge: "r7", tag: undefined, firewall: false },
    ])
  })

  it("of any JSON is read without a crash", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const detail = detailOf("pve", 100 as Vmid, recordOf(value))
        expect([typeof detail.name, typeof detail.cpus, typeof detail.template]).toEqual(["string", "number", "boolean"])
      }),
    )
  })
})

describe("the cluster's list", () => {
  it("tells machines, nodes and storages; a fresh clone has neither name nor state", () => {
    const list = rows([
      { type: "qemu", vmid: "20001", node: "pve", status: "unknown" },
      {
        type: "qemu",
        vmid: 100,
        node: "pve",
        name: "tpl",
        template: 1,
        status: "stopped",
        maxmem: 1_073_741_824,
        tags: "a;b",
        pool: "SHARED",
      },
      { type: "lxc", vmid: 101, node: "pve" },
      { type: "qemu", vmid: 5, node: "pve" },
      { type: "node", node: "pve", status: "online", cpu: 7, maxcpu: 8, maxmem: 2_147_483_648 },
      { type: "storage", storage: "local", node: "pve", status: "available", shared: 0, content: "iso,images" },
      "noise",
      null,
    ])
    expect(pick(list, machineOf).map(({ vmid, name, power, template }) => ({ vmid, name, power, template }))).toEqual([
      { vmid: 20_001, name: undefined, power: "unknown", template: false },
      { vmid: 100, name: "tpl", power: "stopped", template: true },
    ])
    expect(pick(list, nodeOf)).toEqual([{ name: "pve", online: true, cpus: 8, cpuLoad: 1, memoryMiB: 2048, memoryUsedMiB: 0 }])
    expect(pick(list, storageOf)[0]).toMatchObject({ name: "local", active: true, shared: false, content: ["iso", "images"] })
  })

  it("of any JSON is read without a crash", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const list = rows(value)
        expect(pick(list, machineOf).every(({ vmid }) => Number.isInteger(vmid))).toBe(true)
        expect(pick(list, nodeOf).length + pick(list, storageOf).length).toBeLessThanOrEqual(list.length)
      }),
    )
  })

  it("with `__proto__` as a key changes no object's prototype", () => {
    const list = rows(JSON.parse('[{"__proto__":{"type":"qemu","vmid":100,"node":"pve"}}]'))
    expect(pick(list, machineOf)).toEqual([])
  })
})
