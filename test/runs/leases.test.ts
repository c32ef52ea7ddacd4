import { RunEngine, RunPlanner, runPlannerLayer } from "@rangewright/application"
import { rangeSubject, type RunEvent, type RunId } from "@rangewright/domain"
import { Lease, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy, endOf, engineOf, makeCompany, makeLab, startAndWait, strays } from "./support/lab.ts"

const names = ["vm1", "vm2"]
const unplanned = "unplanned000000" as RunId
const settle = (seconds: number) => Effect.sleep(seconds * 1000)

describe("two workers and one run", () => {
  it("the stale one is refused and stops, and the run ends once", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const [old, young] = [boot(lab), boot(lab)]
    const head = await engineOf(old, (engine) => Effect.tap(engine.start(range, deploy, admin), settle(10)))
    // the same name comes back while the old process still lives (it was only suspended)
    expect(await engineOf(young, (engine) => engine.recover)).toBe(1)
    const state = await engineOf(young, (engine) => engine.wait(head.id))
    expect(state.status).toBe("success")
    const refused = await old.runPromise(
      Effect.flatMap(RunJournal, (journal) =>
        Effect.flip(journal.append(head.id, 1, [{ type: "Waiting", reason: "stale" }], new Date(0))),
      ),
    )
    expect(refused._tag).toBe("LeaseLost")
    const entries = lab.store.runs.get(head.id)?.entries ?? []
    const count = (type: RunEvent["type"]) => entries.filter(({ event }) => event.type === type).length
    expect([count("Ended"), count("Resumed")]).toEqual([1, 1])
    expect(strays(lab)).toEqual([])
    expect(Math.max(...endOf(lab).vms.flatMap(({ stages }) => Object.values(stages)))).toBe(1)
    await Promise.all([old.dispose(), young.dispose()])
  })

  it("another process waits until the lease of a dead one has ended", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const other = boot(lab, undefined, { owner: "other" })
    const result = await other.runPromise(
      Effect.gen(function* () {
        const [engine, journal, lease] = [yield* RunEngine, yield* RunJournal, yield* Lease]
        const startedAt = new Date(lab.clock.currentTimeMillisUnsafe())
        const head = {
          id: "run000000000000" as never,
          kind: "deploy" as const,
          subject: rangeSubject(range.id),
          by: admin,
          options: { ...deploy } as never,
          startedAt,
        }
        yield* journal.open(head, "DEPLOYING")
        yield* lease.claim(head.id, "dead", startedAt, 30)
        const early = yield* engine.recover
        yield* settle(31)
        const late = yield* engine.recover
        return { early, late, state: yield* engine.wait(head.id) }
      }),
    )
    expect([result.early, result.late]).toEqual([0, 1])
    expect(result.state.status).toBe("success")
    await other.dispose()
  })

  it("a process that is stopped gives its runs back at once, and the next goes on", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const first = boot(lab, undefined, { owner: "first" })
    const head = await engineOf(first, (engine) => Effect.tap(engine.start(range, deploy, admin), settle(10)))
    await first.dispose()
    const second = boot(lab, undefined, { owner: "second" })
    expect(await engineOf(second, (engine) => engine.recover)).toBe(1)
    expect((await engineOf(second, (engine) => engine.wait(head.id))).status).toBe("success")
    expect(strays(lab)).toEqual([])
    await second.dispose()
  })
})

describe("a run that was opened and not yet planned when its worker died", () => {
  it("waits for a hypervisor that is away, then is planned and goes on", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    const state = await process.runPromise(
      Effect.gen(function* () {
        const [engine, journal] = [yield* RunEngine, yield* RunJournal]
        const startedAt = new Date(lab.clock.now())
        yield* journal.open(
          { id: unplanned, kind: "deploy", subject: rangeSubject(range.id), by: admin, options: deploy as never, startedAt },
          "DEPLOYING",
        )
        lab.world.fault = () => ({ when: "before", reason: "away" })
        yield* engine.recover
        yield* settle(600)
        expect((yield* engine.state(unplanned)).waiting).toContain("told to fail")
        lab.world.fault = () => undefined
        return yield* engine.wait(unplanned)
      }),
    )
    expect(state).toMatchObject({ status: "success", waiting: undefined })
    expect(strays(lab)).toEqual([])
    await process.dispose()
  })

  it("ends as aborted when it was cancelled while it waited", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    lab.world.fault = () => ({ when: "before", reason: "away" })
    const state = await process.runPromise(
      Effect.gen(function* () {
        const [engine, journal] = [yield* RunEngine, yield* RunJournal]
        const startedAt = new Date(lab.clock.now())
        yield* journal.open(
          { id: unplanned, kind: "deploy", subject: rangeSubject(range.id), by: admin, options: deploy as never, startedAt },
          "DEPLOYING",
        )
        yield* engine.recover
        yield* settle(60)
        yield* engine.cancel(unplanned, admin)
        return yield* engine.wait(unplanned)
      }),
    )
    expect(state.status).toBe("aborted")
    expect(lab.store.ranges.get(range.id)?.state).toBe("ABORTED")
    await process.dispose()
  })
})

describe("two requests and one range", () => {
  it("one wins and the other is told which run changes the range", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    const results = await engineOf(process, (engine) =>
      Effect.all(
        [1, 2, 3].map(() => Effect.result(engine.start(range, deploy, admin))),
        { concurrency: "unbounded" },
      ),
    )
    const won = results.flatMap((result) => (result._tag === "Success" ? [result.success] : []))
    const lost = results.flatMap((result) => (result._tag === "Failure" ? [result.failure] : []))
    expect(won).toHaveLength(1)
    expect(lost.map((fault) => [fault._tag, fault.message.includes(won[0]?.id ?? "none")])).toEqual([
      ["RangeBusy", true],
      ["RangeBusy", true],
    ])
    expect((await engineOf(process, (engine) => engine.wait(won[0]!.id))).status).toBe("success")
    expect(strays(lab)).toEqual([])
    await process.dispose()
  })

  it("a plan that another run has made untrue meanwhile is made again", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const other = boot(lab, undefined, { owner: "other" })
    await startAndWait(other, range)
    // while the deploy has its (empty) plan and is not open yet, everything is destroyed
    let destroyed = false
    const between = Effect.promise(async () => {
      if (destroyed) return
      destroyed = true
      await startAndWait(other, range, { kind: "destroy" })
    })
    const late = Layer.effect(
      RunPlanner,
      Effect.map(RunPlanner, (planner) =>
        RunPlanner.of({ ...planner, plan: (...asked) => Effect.tap(planner.plan(...asked), between) }),
      ),
    ).pipe(Layer.provide(runPlannerLayer))
    const process = boot({ ...lab, planner: late }, undefined, { owner: "late" })
    const { state } = await startAndWait(process, range)
    expect(destroyed).toBe(true)
    expect(state.status).toBe("success")
    expect(endOf(lab).vms).toHaveLength(6)
    expect(strays(lab)).toEqual([])
    await Promise.all([process.dispose(), other.dispose()])
  })

  it("many ranges side by side never share a VMID", async () => {
    const lab = makeLab(["a", "b", "c"])
    const ranges = await Promise.all(Array.from({ length: 8 }, (_, i) => createRange(lab, `R${i}`, 10 + i)))
    const process = boot(lab)
    const ends = await Promise.all(ranges.map((range) => startAndWait(process, range)))
    expect(ends.map(({ state }) => state.status)).toEqual(ranges.map(() => "success"))
    expect([...lab.world.vms.values()].filter(({ template }) => !template)).toHaveLength(24)
    expect(strays(lab)).toEqual([])
    await process.dispose()
  })
})
