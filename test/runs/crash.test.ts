import type { RunHead } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { RunEngine, type RunRequest } from "@rangewright/application"
import { type CrashGate, makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy, endOf, type Lab, makeCompany, makeLab, startAndWait, strays } from "./support/lab.ts"
import type { Range } from "@rangewright/domain"

/** Runs a request on a process that dies at the gate's moment; the head when the start was acknowledged. */
const runUntilDeath = async (lab: Lab, range: Range, request: RunRequest, gate: CrashGate): Promise<RunHead | undefined> => {
  const process = boot(lab, gate)
  let head: RunHead | undefined
  await process
    .runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        head = yield* engine.start(range, request, admin)
        yield* Effect.raceFirst(
          engine.wait(head.id),
          Effect.repeat(Effect.sleep(100), { while: () => Effect.succeed(!gate.dead()) }),
        )
      }),
    )
    .catch(() => undefined)
  await process.dispose().catch(() => undefined)
  return head
}

/** A new process on the same store and world: it takes the run up, or the client, who was never answered, asks again. */
const goOn = async (lab: Lab, range: Range, request: RunRequest, acknowledged: RunHead | undefined) => {
  const process = boot(lab)
  const result = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      yield* engine.recover
      const run = [...lab.store.runs.values()].map(({ record }) => record).findLast(({ kind }) => kind === request.kind)
      const head =
        acknowledged ?? run ?? (lab.store.ranges.has(range.id) ? yield* engine.start(range, request, admin) : undefined)
      return head === undefined ? undefined : yield* Effect.option(engine.wait(head.id))
    }),
  )
  await process.dispose()
  return result
}

const undisturbed = async (make: () => Lab, request: RunRequest, before: (lab: Lab, range: Range) => Promise<void>) => {
  const lab = make()
  const range = await createRange(lab)
  await before(lab, range)
  const gate = makeCrashGate()
  const process = boot(lab, gate)
  await startAndWait(process, range, request)
  await process.dispose()
  return { end: endOf(lab), points: gate.points() }
}

/** Crashes at every moment from `first` on, in steps of `every`; the moments that did not converge. */
const crashEverywhere = async (make: () => Lab, request: RunRequest, before: (lab: Lab, range: Range) => Promise<void>) => {
  const { end, points } = await undisturbed(make, request, before)
  const broken: unknown[] = []
  let crashes = 0
  for (let at = 1; at <= points; at++) {
    const lab = make()
    const range = await createRange(lab)
    await before(lab, range)
    const gate = makeCrashGate(at)
    const acknowledged = await runUntilDeath(lab, range, request, gate)
    await goOn(lab, range, request, acknowledged)
    const after = {
      end: endOf(lab),
      strays: strays(lab),
      running: [...lab.store.runs.values()].filter(({ record }) => record.status === "running").length,
    }
    if (gate.dead()) crashes += 1
    const lost = acknowledged !== undefined && lab.store.ranges.has(range.id) && !lab.store.runs.has(acknowledged.id)
    try {
      expect(after).toEqual({ end, strays: [], running: 0 })
      expect(lost).toBe(false)
    } catch (error) {
      broken.push({ at, moment: gate.trace.at(-1), error: String(error).slice(0, 2000) })
    }
  }
  return { points, crashes, broken }
}

const nothing = async (): Promise<void> => undefined
const deployed = async (lab: Lab, range: Range): Promise<void> => {
  const process = boot(lab)
  await startAndWait(process, range)
  await process.dispose()
}

describe("a process that dies before or after any journal write or port call", () => {
  it("goes on with a deploy of six machines and ends as if nothing had happened", { timeout: 120_000 }, async () => {
    const { crashes, broken } = await crashEverywhere(makeLab, deploy, nothing)
    expect(crashes).toBeGreaterThan(300)
    expect(broken).toEqual([])
  })

  it("goes on with a deploy that is planned from a configuration", { timeout: 180_000 }, async () => {
    const { crashes, broken } = await crashEverywhere(makeCompany, deploy, nothing)
    expect(crashes).toBeGreaterThan(400)
    expect(broken).toEqual([])
  })

  it("goes on with a destroy and leaves no machine", { timeout: 120_000 }, async () => {
    const { crashes, broken } = await crashEverywhere(makeLab, { kind: "destroy" }, deployed)
    expect(crashes).toBeGreaterThan(60)
    expect(broken).toEqual([])
  })

  it("goes on with the removal of a range and leaves nothing of it", { timeout: 120_000 }, async () => {
    const { crashes, broken } = await crashEverywhere(makeLab, { kind: "delete-range", force: true }, deployed)
    expect(crashes).toBeGreaterThan(60)
    expect(broken).toEqual([])
  })
})
