import { migrateToEnd, migrateToSdn } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { type Conflict, installation, isCancellable, isFault, type RunId, waitingFor } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { admin } from "../runs/support/lab.ts"
import { bootMigration, endOf, makeMigrationLab, migrate, type MigrationLab, unreachable } from "./support/lab.ts"

const twoRanges = (): MigrationLab => makeMigrationLab({ ranges: 2, nodes: ["pve1"], marked: true })

/** Requests a cancel through the engine that runs the migration; true if it was accepted. */
const asked = (id: RunId) =>
  RunEngine.use((engine) => engine.cancel(id, admin)).pipe(
    Effect.catchIf(
      (fault): fault is Conflict => isFault(fault) && fault.kind === "conflict",
      (fault) => {
        expect(fault.message).toContain("point of no return")
        return Effect.succeed(false)
      },
    ),
  )

/** Stores a cancel as another process does; the engine learns of it at its next write or poll. */
const writtenElsewhere = (id: RunId) =>
  Effect.gen(function* () {
    const [engine, journal] = [yield* RunEngine, yield* RunJournal]
    for (;;) {
      const now = yield* engine.state(id)
      const at = new Date(yield* Clock.currentTimeMillis)
      if (now.status !== "running" || !isCancellable(now)) return undefined
      if (yield* journal.requestCancel(id, now.lastSeq, { type: "CancelRequested", by: admin }, at)) return undefined
    }
  })

/** Migrates, and cancels when the journal has `seq` entries. */
const cancelledAt = async (lab: MigrationLab, seq: number, cancel: typeof asked | typeof writtenElsewhere) => {
  const process = bootMigration(lab)
  const result = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const known = new Set(lab.store.runs.keys())
      const call = yield* Effect.forkChild(Effect.exit(migrateToEnd("to-sdn", true, admin)))
      const opened = () => [...lab.store.runs.keys()].find((id) => !known.has(id))
      while (opened() === undefined) yield* Effect.sleep(10)
      const id = opened()!
      yield* Stream.runDrain(Stream.takeUntil(engine.events(id, 0), (entry) => entry.seq >= seq))
      const before = yield* engine.state(id)
      const taken = before.status === "running" ? yield* cancel(id) : undefined
      yield* Fiber.join(call)
      return { taken, before, state: yield* engine.wait(id) }
    }),
  )
  await process.dispose()
  return result
}

const migrated = async () => {
  const lab = twoRanges()
  const process = bootMigration(lab)
  await migrate(process)
  await process.dispose()
  const [run] = [...lab.store.runs.values()]
  return { end: endOf(lab), entries: run!.entries.length }
}

describe("a migration that is cancelled", { timeout: 300_000 }, () => {
  it.each([
    ["by a caller", asked],
    ["by another process", writtenElsewhere],
  ] as const)("%s at any moment is undone or goes on to its end, and says which", async (_by, cancel) => {
    const before = endOf(twoRanges())
    const { end, entries } = await migrated()
    const seen = { undone: 0, finished: 0 }
    for (let seq = 1; seq < entries; seq++) {
      const lab = twoRanges()
      const { taken, state } = await cancelledAt(lab, seq, cancel)
      expect([seq, state.status]).toEqual([seq, expect.stringMatching(/^(?:aborted|success)$/u)])
      expect([seq, endOf(lab)]).toEqual([seq, state.status === "aborted" ? before : end])
      expect(unreachable(lab)).toEqual([])
      if (taken !== undefined) expect([seq, taken]).toEqual([seq, state.status === "aborted"])
      seen[state.status === "aborted" ? "undone" : "finished"] += 1
    }
    expect(seen.undone).toBeGreaterThan(10)
    expect(seen.finished).toBeGreaterThan(10)
  })

  it("while it waits for an unreachable node ends at once, since that node may never come back", async () => {
    const lab = makeMigrationLab({ ranges: 2, nodes: ["pve1", "pve2"], marked: true })
    const process = bootMigration(lab)
    const state = await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const head = yield* engine.start(migrateToSdn.request(installation, { createZone: true }), admin)
        yield* Stream.runDrain(
          Stream.takeUntil(
            engine.events(head.id, 0),
            ({ event }) => event.type === "StepStarted" && event.key.startsWith("move:"),
          ),
        )
        for (const node of ["pve1", "pve2"]) lab.sim.faults.add({ kind: "node-down", node })
        while (waitingFor(yield* engine.state(head.id)) === undefined) yield* Effect.sleep(1000)
        expect(yield* engine.cancel(head.id, admin)).toBe(true)
        return yield* engine.wait(head.id)
      }),
    )
    expect(state).toMatchObject({ status: "aborted", irreversible: true })
    await process.dispose()
  })
})
