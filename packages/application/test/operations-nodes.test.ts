import type { RangeId, Vmid } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import { expect, it } from "vitest"
import { makeTestApp } from "./support/app.ts"

const GiB = 1024
const node = (name: string, more: object = {}) => ({
  name,
  online: true,
  cpus: 8,
  cpuLoad: 0.5,
  memoryMiB: 32 * GiB,
  memoryUsedMiB: 4 * GiB,
  ...more,
})
const storage = {
  name: "local",
  node: "b",
  type: "dir",
  shared: false,
  active: true,
  totalBytes: 100,
  usedBytes: 40,
  content: [],
}
const vm = { node: "b", template: false, cpus: 2, memoryMiB: 8 * GiB, tags: [] }
const machines = [
  { ...vm, vmid: 20_000 as Vmid, name: "LAB-a", power: "running" as const, pool: "LAB" },
  { ...vm, vmid: 20_001 as Vmid, name: "LAB-b", power: "stopped" as const, pool: "LAB" },
  { ...vm, vmid: 100 as Vmid, name: "others", power: "running" as const, pool: undefined },
]
/** 1 GiB, and a router of 2 GiB. */
const config =
  "ludus: [{vm_name: m, hostname: m, template: t-debian, vlan: 10, ip_last_octet: 11, ram_gb: 1, cpus: 1, linux: true}]\nrouter: {ram_gb: 2}\n"

it("nodes show what is used and promised to ranges, and capacity how many more ranges fit on those that are online", async () => {
  const app = makeTestApp({ settings: { clusterMode: true } })
  const admin = await app.addUser("AD", { isAdmin: true })
  const lab = await app.addRange("LAB", [admin], config)
  expect(await app.call("listNodes", admin)).toEqual({ nodes: [] })
  expect(await app.call("getCapacity", admin, { range: lab })).toMatchObject({ fits: 0, limitedBy: "memory" })
  const at = new Date("2026-01-02T03:04:05Z")
  const nodes = [node("b"), node("a", { online: false })]
  await app.run(Machines.use((store) => store.replace({ at, nodes, storages: [storage], machines })))
  const { content: _, node: __, ...shown } = storage
  expect(await app.call("listNodes", admin)).toEqual({
    nodes: [
      {
        ...node("a", { online: false }),
        promised: { machines: 0, machinesOn: 0, cpus: 0, memoryMiB: 0 },
        freeMemoryMiB: 28 * GiB,
        storages: [],
      },
      {
        ...node("b"),
        promised: { machines: 2, machinesOn: 1, cpus: 4, memoryMiB: 16 * GiB },
        freeMemoryMiB: 16 * GiB,
        storages: [shown],
      },
    ],
    observedAt: at.toISOString(),
  })
  const one = { machines: 2, cpus: 3, memoryMiB: 3 * GiB }
  expect(await app.call("getCapacity", admin, { range: lab })).toEqual({ fits: 5, limitedBy: "memory", one })
  const huge = [node("b", { memoryMiB: 4096 * GiB })]
  await app.run(Machines.use((store) => store.replace({ at, nodes: huge, storages: [], machines })))
  // 153 numbers: one is reserved, and one is used by LAB
  expect(await app.call("getCapacity", admin, { range: lab })).toEqual({ fits: 151, limitedBy: "range numbers", one })
})

it("capacity fails without a blueprint or range, for an unknown blueprint, and for a range with a wrong configuration", async () => {
  const app = makeTestApp()
  const admin = await app.addUser("AD", { isAdmin: true })
  const lab = await app.addRange("LAB", [admin])
  expect(await app.fails("getCapacity", admin)).toMatchObject({ kind: "invalid", hint: "Name one: blueprintID or rangeID." })
  expect(await app.fails("getCapacity", admin, { query: { blueprintID: "no/such" } })).toMatchObject({ kind: "not-found" })
  await app.run(Ranges.use((ranges) => ranges.setConfig("LAB" as RangeId, "ludus: [{}]\n")))
  expect(await app.fails("getCapacity", admin, { range: lab })).toMatchObject({ kind: "invalid" })
})

it("diagnostics list inactive storages, whose size nobody knows, too", async () => {
  const app = makeTestApp()
  const admin = await app.addUser("AD", { isAdmin: true })
  const storages = [storage, { ...storage, name: "backup", active: false, totalBytes: 0, usedBytes: 0 }]
  await app.run(Machines.use((store) => store.replace({ at: new Date(), nodes: [node("b")], storages, machines })))
  const unknown = { size_gb: 0, used_gb: 0, free_gb: 0, free_percentage: 0 }
  expect(await app.call("diagnostics", admin)).toMatchObject({
    storage_pools: [
      { name: "local", free_percentage: 60 },
      { name: "backup", type: "dir", ...unknown },
    ],
    notes: expect.arrayContaining(["inactive, so their size is not known (not zero): backup"]) as string[],
  })
})
