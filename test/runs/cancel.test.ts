import { RunEngine } from "@rangewright/application"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy, endOf, engineOf, makeLab, startAndWait, strays } from "./support/lab.ts"

const names = ["vm1", "vm2"]

/** Cancels a deploy as soon as its journal holds `seq` entries. */
const cancelAt = async (seq: number) => {
  const lab = makeLab(names)
  const range = await createRange(lab)
  const process = boot(lab)
  const result = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const head = yield* engine.start(range, deploy, admin)
      yield* Stream.runDrain(Stream.takeUntil(engine.events(head.id, 0), (entry) => entry.seq >= seq))
      const before = yield* engine.state(head.id)
      const asked = yield* engine.cancel(head.id, admin)
      const shown = lab.store.ranges.get(range.id)?.state
      return { asked, shown, before, state: yield* engine.wait(head.id) }
    }),
  )
  const shownAfter = lab.store.ranges.get(range.id)?.state
  const resumed = await startAndWait(process, range)
  await process.dispose()
  return { ...result, shownAfter, lab, resumed }
}

const entriesOfADeploy = async (): Promise<{ entries: number; end: ReturnType<typeof endOf> }> => {
  const lab = makeLab(names)
  const range = await createRange(lab)
  const process = boot(lab)
  const { state } = await startAndWait(process, range)
  await process.dispose()
  return { entries: state.lastSeq, end: endOf(lab) }
}

describe("a cancel", () => {
  it(
    "at any moment: starts nothing new, lets tasks in flight settle, shows at once, and the next deploy finishes the work",
    { timeout: 60_000 },
    async () => {
      const { entries, end } = await entriesOfADeploy()
      let aborted = 0
      for (let seq = 1; seq < entries; seq++) {
        const { asked, shown, shownAfter, before, state, lab, resumed } = await cancelAt(seq)
        if (!asked) continue
        aborted += 1
        expect([shown, shownAfter]).toEqual(["ABORTED", "ABORTED"])
        expect(state.status).toBe("aborted")
        const begunLater = [...state.steps.values()].filter(
          ({ step, phase }) => phase !== "skipped" && before.steps.get(step.key)?.phase === "planned",
        )
        // what had room when the cancel came may have been begun in the same instant
        expect(begunLater.map(({ phase }) => phase)).toEqual(begunLater.map(() => "settled"))
        const phases = new Set([...state.steps.values()].map(({ phase }) => phase))
        expect([...phases].filter((phase) => phase !== "settled" && phase !== "skipped")).toEqual([])
        expect(resumed.state.status).toBe("success")
        expect(endOf(lab)).toEqual(end)
        expect(strays(lab)).toEqual([])
      }
      expect(aborted).toBeGreaterThan(20)
    },
  )

  it("of a run that waits for a hypervisor that is away ends it", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    lab.world.fault = ({ action, method }) =>
      action !== undefined || (method === "observe" && lab.store.runs.size > 0) ? { when: "before", reason: "away" } : undefined
    const state = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const head = yield* engine.start(range, deploy, admin)
        yield* Effect.sleep(60_000)
        expect((yield* engine.state(head.id)).waiting).toContain("told to fail")
        expect(yield* engine.cancel(head.id, admin)).toBe(true)
        return yield* engine.wait(head.id)
      }),
    )
    await process.dispose()
    expect(state.status).toBe("aborted")
  })

  it("of a run that is over changes nothing", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    const { head } = await startAndWait(process, range)
    expect(await engineOf(process, (engine) => engine.cancel(head.id, admin))).toBe(false)
    expect(lab.store.ranges.get(range.id)?.state).toBe("SUCCESS")
    await process.dispose()
  })

  it("asked of one process reaches the worker in another", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const [one, two] = [boot(lab, undefined, { owner: "one" }), boot(lab, undefined, { owner: "two" })]
    const head = await engineOf(one, (engine) => engine.start(range, deploy, admin))
    const state = await engineOf(two, (engine) => Effect.andThen(engine.cancel(head.id, admin), engine.wait(head.id)))
    expect(state.status).toBe("aborted")
    await Promise.all([one.dispose(), two.dispose()])
  })
})
