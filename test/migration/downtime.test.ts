import { describe, expect, it } from "vitest"
import { machinesOf } from "./support/first-generation.ts"
import { bootMigration, makeMigrationLab, migrate, type MigrationLab, outOfReach, unreachable } from "./support/lab.ts"

const everyMillis = 50

/** Watches a migration in its own time: how long machines were cut off, and how long ranges were split. */
const watched = async (lab: MigrationLab, machines: number) => {
  const cutOff = new Map<number, number>()
  const split = new Map<number, number>()
  let watching = true
  const look = (): void => {
    if (!watching) return
    for (let range = 1; range <= lab.ranges; range++) {
      const [router = 0, ...others] = machinesOf(range, machines).map(({ vmid }) => vmid)
      const apart = others.filter((vmid) => !lab.sim.reaches(router, vmid))
      if (apart.length > 0) split.set(range, (split.get(range) ?? 0) + everyMillis)
      // a machine that cannot even reach itself has no network at all
      for (const vmid of [router, ...others])
        if (!lab.sim.reaches(vmid, vmid)) cutOff.set(vmid, (cutOff.get(vmid) ?? 0) + everyMillis)
    }
    lab.clock.schedule(everyMillis, look)
  }
  const process = bootMigration(lab)
  look()
  const began = lab.clock.now()
  await migrate(process)
  watching = false
  await process.dispose()
  return { cutOff, split, seconds: (lab.clock.now() - began) / 1000 }
}

describe("while networks move", () => {
  it("the gateway loses each range only while its router moves and its route changes", async () => {
    const lab = makeMigrationLab({ ranges: 6, nodes: ["pve1"], marked: true }, {}, "pve1")
    const lost = new Map<number, number>()
    let watching = true
    const look = (): void => {
      if (!watching) return
      for (const range of outOfReach(lab)) lost.set(range, (lost.get(range) ?? 0) + everyMillis)
      lab.clock.schedule(everyMillis, look)
    }
    expect(outOfReach(lab)).toEqual([])
    const process = bootMigration(lab)
    look()
    await migrate(process)
    watching = false
    await process.dispose()
    expect(lost.size).toBe(6)
    expect(Math.max(...lost.values())).toBeLessThanOrEqual(1000)
    expect(outOfReach(lab)).toEqual([])
  })

  it("no machine is without a network for more than a second, and a range is split only while its own machines move", async () => {
    const machines = 10
    const lab = makeMigrationLab({ ranges: 6, nodes: ["pve1", "pve2"], machines, marked: true })
    expect(unreachable(lab)).toEqual([])
    const { cutOff, split } = await watched(lab, machines)
    expect(cutOff.size).toBe(6 * machines)
    expect(Math.max(...cutOff.values())).toBeLessThanOrEqual(1000)
    // three machines of a node at once: four rounds, interleaved with other ranges
    expect(Math.max(...split.values())).toBeLessThanOrEqual(3000)
    expect(unreachable(lab)).toEqual([])
  })
})

describe("a hundred ranges with a thousand machines on five nodes", () => {
  it(
    "moves with one call for each change, and in little more time than the moves themselves take",
    { timeout: 300_000 },
    async () => {
      const [ranges, machines, nodes] = [100, 10, ["pve1", "pve2", "pve3", "pve4", "pve5"]] as const
      const lab = makeMigrationLab({ ranges, nodes, machines, marked: true }, { nodes: nodes.length })
      const process = bootMigration(lab)
      const began = lab.clock.now()
      await migrate(process)
      const seconds = (lab.clock.now() - began) / 1000
      await process.dispose()
      const { mutating, byRoute } = lab.sim.calls.counts()
      const [vnets, rights, bridges] = [ranges + 1, ranges + 1, ranges]
      expect(mutating).toBeLessThanOrEqual(vnets + ranges * machines + rights + bridges + 2 * nodes.length + 5)
      expect(byRoute["PUT /cluster/sdn"]).toBe(1)
      expect(byRoute["PUT /nodes/{node}/network"]).toBe(nodes.length)
      // each node moves 200 machines, three at once; then the apply and the reload
      const bound = Math.ceil((ranges * machines) / nodes.length / 3) * 0.3 + 4 + 3
      expect(seconds / bound).toBeLessThanOrEqual(1.2)
    },
  )
})
