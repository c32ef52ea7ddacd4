import { RunEngine } from "@rangewright/application"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { makeCrashGate } from "../runs/support/crash-gate.ts"
import { bootMigration, endOf, makeMigrationLab, migrate, type MigrationLab, unreachable } from "./support/lab.ts"

const threeRanges = (): MigrationLab => makeMigrationLab({ ranges: 3, nodes: ["pve1"], marked: true })

const undisturbed = async () => {
  const lab = threeRanges()
  const before = endOf(lab)
  const gate = makeCrashGate()
  const process = bootMigration(lab, gate)
  const text = await migrate(process)
  await process.dispose()
  return { text, before, after: endOf(lab), points: gate.points() }
}

/** Runs a migration on a process that dies at the gate's moment. */
const untilDeath = async (lab: MigrationLab, at: number): Promise<ReturnType<typeof makeCrashGate>> => {
  const gate = makeCrashGate(at)
  const process = bootMigration(lab, gate)
  const dead = Effect.repeat(Effect.sleep(100), { while: () => Effect.succeed(!gate.dead()) })
  await process
    .runPromise(
      Effect.raceFirst(
        Effect.promise(() => migrate(process)),
        dead,
      ),
    )
    .catch(() => undefined)
  await process.dispose().catch(() => undefined)
  return gate
}

/** A new process takes up what the dead one left, and waits for its end. */
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

describe("a migration", () => {
  it("moves three ranges, and every machine reaches its range at the end", async () => {
    const { text, before, after } = await undisturbed()
    expect(text).toMatch(/^The migration to SDN VNets finished successfully: 9 machines moved/u)
    expect(after.vnets).toEqual(["ludusnat", "r1", "r2", "r3"])
    expect(after.cards).not.toEqual(before.cards)
    const lab = threeRanges()
    expect(unreachable(lab)).toEqual([])
    const process = bootMigration(lab)
    await migrate(process)
    expect(unreachable(lab)).toEqual([])
    expect(await migrate(process)).toMatch(/^Nothing to migrate/u)
    expect(await migrate(process, "to-bridges")).toMatch(/^The return to bridges finished successfully/u)
    expect(endOf(lab)).toEqual(before)
    expect(unreachable(lab)).toEqual([])
    await process.dispose()
  })

  it(
    "whose process dies before or after any journal write, port call or changing API call comes to the same end",
    { timeout: 600_000 },
    async () => {
      const { before, after, points } = await undisturbed()
      const broken: unknown[] = []
      let deaths = 0
      for (let at = 1; at <= points; at++) {
        const lab = threeRanges()
        const gate = await untilDeath(lab, at)
        if (gate.dead()) deaths += 1
        const known = lab.store.runs.size > 0
        await takeUp(lab)
        try {
          // one that nobody was told of has changed nothing
          expect(endOf(lab)).toEqual(known ? after : before)
          expect(unreachable(lab)).toEqual([])
        } catch (error) {
          broken.push({ at, moment: gate.trace.at(-1), error: String(error).slice(0, 1500) })
        }
      }
      expect(deaths).toBeGreaterThan(200)
      expect(broken).toEqual([])
    },
  )
})
