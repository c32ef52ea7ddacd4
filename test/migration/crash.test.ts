import { RunEngine } from "@rangewright/run-engine"
import type { MigrationDirection } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { makeCrashGate } from "../runs/support/crash-gate.ts"
import {
  bootMigration,
  endOf,
  makeMigrationLab,
  migrate,
  type MigrationLab,
  outlives,
  outOfReach,
  unreachable,
} from "./support/lab.ts"

const threeRanges = (): MigrationLab => makeMigrationLab({ ranges: 3, nodes: ["pve1"], marked: true }, {}, "pve1")

const migratedRanges = async (): Promise<MigrationLab> => {
  const lab = threeRanges()
  const process = bootMigration(lab)
  await migrate(process)
  await process.dispose()
  return lab
}

const undisturbed = async (make: () => MigrationLab | Promise<MigrationLab>, direction: MigrationDirection) => {
  const lab = await make()
  const before = endOf(lab)
  const gate = makeCrashGate(undefined, () => outlives(lab))
  const process = bootMigration(lab, gate)
  const text = await migrate(process, direction)
  await process.dispose()
  return { text, before, after: endOf(lab), moments: gate.distinct() }
}

/** Runs a migration on a process that dies at the gate's moment. */
const untilDeath = async (
  lab: MigrationLab,
  direction: MigrationDirection,
  at: number,
): Promise<ReturnType<typeof makeCrashGate>> => {
  const gate = makeCrashGate(at)
  const process = bootMigration(lab, gate)
  await process
    .runPromise(
      Effect.raceFirst(
        Effect.promise(() => migrate(process, direction)),
        gate.died,
      ),
    )
    .catch(() => undefined)
  await process.dispose().catch(() => undefined)
  return gate
}

/** A new process continues what the dead one left, and waits for the end. */
const takeUp = async (lab: MigrationLab): Promise<void> => {
  const process = bootMigration(lab)
  await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      yield* engine.recover
      for (const id of lab.store.runs.keys()) yield* engine.wait(id)
    }),
  )
  await process.dispose()
}

/** Dies at every moment that leaves a new state, each time in a fresh world; returns the moments with a different end. */
const dieEverywhere = async (make: () => MigrationLab | Promise<MigrationLab>, direction: MigrationDirection) => {
  const { before, after, moments } = await undisturbed(make, direction)
  const broken: unknown[] = []
  let deaths = 0
  for (const at of moments) {
    const lab = await make()
    const runs = lab.store.runs.size
    const gate = await untilDeath(lab, direction, at)
    if (gate.dead()) deaths += 1
    const known = lab.store.runs.size > runs
    await takeUp(lab)
    try {
      // a run that was never acknowledged has changed nothing
      expect(endOf(lab)).toEqual(known ? after : before)
      expect([...unreachable(lab), ...outOfReach(lab)]).toEqual([])
    } catch (error) {
      broken.push({ at, moment: gate.trace.at(-1), error: String(error).slice(0, 1500) })
    }
  }
  return { deaths, broken }
}

describe("a migration", () => {
  it("moves three ranges, and every machine reaches its range afterwards; the way back restores everything", async () => {
    const lab = threeRanges()
    const before = endOf(lab)
    expect(unreachable(lab)).toEqual([])
    const process = bootMigration(lab)
    expect(await migrate(process)).toMatch(/^The migration to SDN VNets finished successfully: 9 machines moved/u)
    expect(endOf(lab).vnets).toEqual(["ludusnat", "r1", "r2", "r3"])
    expect(endOf(lab).cards).not.toEqual(before.cards)
    expect(unreachable(lab)).toEqual([])
    expect(await migrate(process)).toMatch(/^Nothing to migrate/u)
    expect(await migrate(process, "to-bridges")).toMatch(/^The return to bridges finished successfully/u)
    // except for the route to each router, and its file, which the bridge had in its own stanza
    expect({ ...endOf(lab), hosts: [] }).toEqual({ ...before, hosts: [] })
    expect([...unreachable(lab), ...outOfReach(lab)]).toEqual([])
    await process.dispose()
  })
})

describe("a process that dies before or after any journal write, port call or changing API call", () => {
  it("continues a migration and comes to the same end", { timeout: 600_000 }, async () => {
    const { deaths, broken } = await dieEverywhere(threeRanges, "to-sdn")
    expect(deaths).toBeGreaterThan(120)
    expect(broken).toEqual([])
  })

  it("continues a return to bridges and comes to the same end", { timeout: 600_000 }, async () => {
    const { deaths, broken } = await dieEverywhere(migratedRanges, "to-bridges")
    expect(deaths).toBeGreaterThan(100)
    expect(broken).toEqual([])
  })
})
