import { planNetworks } from "@rangewright/application"
import { Hypervisor, Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { makeLyingLists, type Lie } from "../runs/support/lying-lists.ts"
import { bootMigration, endOf, makeMigrationLab, migrate, unreachable } from "./support/lab.ts"

const remember = Effect.flatMap(Machines, (machines) =>
  Effect.flatMap(
    Hypervisor.use((hypervisor) => hypervisor.observe),
    machines.replace,
  ),
)

describe("a migration that meets a list of machines that", () => {
  it.each<[Lie, RegExp]>([
    ["empty", /the list of machines lacks \S+ \(VM \d+\): it is on node pve1/u],
    ["partial", /the list of machines lacks \S+ \(VM \d+\): it is on node pve1/u],
    ["blind", /VM\.Audit/u],
  ])("is %s moves nothing and says why; the next one moves all", async (lie, why) => {
    const made = makeMigrationLab({ ranges: 3, nodes: ["pve1"], marked: true })
    const { lists, between } = makeLyingLists(1)
    const lab = { ...made, sim: { ...made.sim, state: made.sim.state, handle: between(made.sim.handle) } }
    const process = bootMigration(lab)
    await process.runPromise(remember)
    const before = endOf(lab)

    lists.now = lie
    expect((await process.runPromise(planNetworks("to-sdn", true))).blockers).toContainEqual(
      expect.objectContaining({ code: "machines-in-doubt", message: expect.stringMatching(why) }),
    )
    expect(await migrate(process).catch(String)).toMatch(why)
    expect(endOf(lab)).toEqual(before)

    lists.now = "truth"
    await migrate(process)
    expect(unreachable(lab)).toEqual([])
    expect((await process.runPromise(planNetworks("to-sdn", true))).steps).toEqual([])
    await process.dispose()
  })
})
