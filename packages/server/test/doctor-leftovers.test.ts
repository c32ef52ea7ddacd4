import {
  addTemplate,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryStorageLayer,
  type MemoryVm,
} from "@rangewright/adapter-memory"
import { natAlias, networkComment, type RangeId, type RecordId, writeDescription } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, test } from "vitest"
import { checkLeftovers } from "../src/doctor/leftover-checks.ts"

const lab = "LAB" as RangeId
const gone = "GONE" as RangeId

/** A service that knows the range LAB only. */
const installed = async () => {
  const [store, world] = [makeMemoryStore(), makeMemoryWorld()]
  const layer = Layer.mergeAll(memoryStorageLayer(store), memoryHypervisorLayer(world))
  const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof layer>>) => Effect.runPromise(Effect.provide(effect, layer))
  await run(
    Ranges.use((ranges) =>
      ranges.create({
        id: lab,
        recordId: "lab000000000000" as RecordId,
        number: 7,
        reservedNumbers: [],
        name: "Lab",
        description: "",
        purpose: "",
        config: "ludus: []\n",
        createdBy: undefined,
        owners: [],
        createdAt: new Date(0),
      }),
    ),
  )
  const add = (vmid: number, name: string, change: Partial<MemoryVm>): void => {
    const vm = addTemplate(world, vmid, name)
    world.vms.set(vm.vmid, { ...vm, template: false, pool: undefined, ...change })
  }
  const markOf = (range: RangeId, machine: string) => writeDescription({ range, machine }, [])
  const findings = (natNetwork?: string) => run(checkLeftovers({ vmidFrom: 20_000, vmidTo: 29_999, natNetwork }))
  return { world, add, markOf, findings }
}

describe("the doctor's check for leftovers", () => {
  test("accepts machines and networks of its ranges, and those of others", async () => {
    const { world, add, markOf, findings } = await installed()
    add(20_000, "LAB-web", { pool: lab, description: markOf(lab, "LAB-web"), tags: ["rangewright"] })
    add(20_001, "LAB-kali", { description: markOf(lab, "LAB-kali") })
    add(20_002, "database", { description: "of the accountants" })
    add(300, "GONE-far", { description: markOf(gone, "GONE-far") })
    world.networks.set("r7", {
      spec: { type: "vnet", name: "r7", zone: "ludus", tag: 7, alias: networkComment(lab) },
      ours: true,
    })
    expect(await findings()).toEqual([
      { level: "ok", what: "leftovers", detail: "every machine and network with the service's mark belongs to a range" },
    ])
  })

  test("names machines and networks with its mark whose range it does not know", async () => {
    const { world, add, markOf, findings } = await installed()
    add(20_000, "GONE-web", { description: markOf(gone, "GONE-web"), pool: gone })
    add(300, "GONE-kali", { description: `a note\n${markOf(gone, "GONE-kali")}`, tags: ["rangewright"] })
    world.networks.set("r9", {
      spec: { type: "vnet", name: "r9", zone: "ludus", tag: 9, alias: networkComment(gone) },
      ours: true,
    })
    const [machines, networks, ...more] = await findings()
    expect(machines).toMatchObject({ level: "warn", what: "leftovers", hint: expect.stringContaining("remove them in Proxmox") })
    expect(machines?.detail).toMatch(
      /^2 machines .* to no range of this installation: .*GONE-web \(VM 20000 on node1, range GONE\)/u,
    )
    expect(machines?.detail).toContain("GONE-kali (VM 300 on node1, range GONE)")
    expect(networks?.detail).toBe("1 network with the service's mark belongs to no range of this installation: r9 (range GONE)")
    expect(more).toEqual([])
    expect(world.calls.filter(({ mutating }) => mutating)).toEqual([])
  })

  test("leaves the network to the outside alone, which the migration made or somebody made by hand", async () => {
    const { world, findings } = await installed()
    const vnet = (name: string, alias: string) =>
      world.networks.set(name, { spec: { type: "vnet", name, zone: "ludus", tag: 1, alias }, ours: true })
    vnet("oldnat", natAlias)
    vnet("mynat", networkComment(gone))
    vnet("lan", "Rangewright outside network")
    vnet("lan2", "rangewright GONE, do not remove")
    world.networks.set("vmbr1000", {
      spec: { type: "bridge", name: "vmbr1000", node: "node1", comment: networkComment(gone) },
      ours: true,
    })
    expect(await findings("mynat")).toMatchObject([{ level: "ok" }])
    expect(await findings()).toMatchObject([{ level: "warn", detail: expect.stringMatching(/: mynat \(range GONE\)$/u) }])
  })

  test("prints nothing of a VM's notes that a terminal would obey", async () => {
    const { add, findings } = await installed()
    const bad = "GONE\u001B[2J\u009B31m" as RangeId
    add(20_000, "web", { description: writeDescription({ range: bad, machine: "web" }, []), tags: ["rangewright"] })
    expect(await findings()).toMatchObject([{ level: "ok" }])
  })

  test("names a few of many", async () => {
    const { add, markOf, findings } = await installed()
    for (let vmid = 20_000; vmid < 20_013; vmid += 1) add(vmid, `GONE-${vmid}`, { description: markOf(gone, `GONE-${vmid}`) })
    const [found] = await findings()
    expect(found?.detail).toMatch(/^13 machines .*, and 3 more$/u)
  })

  test("says why it could not look", async () => {
    const { world, findings } = await installed()
    world.fault = () => ({ when: "before", reason: "away" })
    expect(await findings()).toMatchObject([{ level: "warn", what: "leftovers", detail: expect.stringContaining("observe") }])
  })
})
