import { recoveryLayer, RunPlanner, runPlannerLayer, rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { rangeSubject, type RunEvent, type RunId, waitingFor } from "@rangewright/domain"
import { RunJournal, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { type CrashGate, makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy, endOf, engineOf, makeCompany, makeLab, startAndWait, strays } from "./support/lab.ts"

const names = ["vm1", "vm2"]
const unplanned = "unplanned000000" as RunId
const settle = (seconds: number) => Effect.sleep(seconds * 1000)

describe("two workers and one run", () => {
  it("the stale one is refused and stops, and the run ends once", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const [old, young] = [boot(lab), boot(lab)]
    const head = await engineOf(old, (engine) => Effect.tap(engine.start(rangeRequest(range, deploy), admin), settle(10)))
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
        const [engine, journal] = [yield* RunEngine, yield* RunJournal]
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
        yield* journal.claim(head.id, "dead", 30)
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

  it("a process that stops releases its runs at once, and the next one continues them", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const first = boot(lab, undefined, { owner: "first" })
    const head = await engineOf(first, (engine) => Effect.tap(engine.start(rangeRequest(range, deploy), admin), settle(10)))
    await first.dispose()
    const second = boot(lab, undefined, { owner: "second" })
    expect(await engineOf(second, (engine) => engine.recover)).toBe(1)
    expect((await engineOf(second, (engine) => engine.wait(head.id))).status).toBe("success")
    expect(strays(lab)).toEqual([])
    await second.dispose()
  })
})

describe("a run that was opened and not yet planned when its worker died", () => {
  it("waits for an unreachable hypervisor, then is planned and continues", async () => {
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
        expect(waitingFor(yield* engine.state(unplanned))).toContain("told to fail")
        lab.world.fault = () => undefined
        return yield* engine.wait(unplanned)
      }),
    )
    expect(state).toMatchObject({ status: "success", waits: new Map() })
    expect(strays(lab)).toEqual([])
    await process.dispose()
  })

  it("ends as aborted if it was cancelled while it waited", async () => {
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

describe("the runs of a dead process", () => {
  it("are all continued at once, and those that the store cannot claim yet soon after", async () => {
    const lab = makeLab(names)
    const ranges = [await createRange(lab), await createRange(lab, "OTHER", 8), await createRange(lab, "THIRD", 9)]
    const dead = boot(lab)
    const heads = await engineOf(dead, (engine) =>
      Effect.forEach(ranges, (range) => engine.start(rangeRequest(range, deploy), admin)),
    )
    await dead.dispose()
    let stuck: RunId | undefined
    let refusals = 3
    /** The store fails three times when the first run is claimed. */
    const gate: CrashGate = {
      ...makeCrashGate(),
      guard: <S extends object>(_: string, service: S): S => {
        if (!("claim" in service)) return service
        const { claim } = service as unknown as RunJournal["Service"]
        const answering: typeof claim = (runId, ...rest) =>
          Effect.suspend(() => {
            stuck ??= runId
            return runId === stuck && refusals-- > 0
              ? Effect.fail(new StorageFault({ doing: `claim run ${runId}`, because: "no answer" }))
              : claim(runId, ...rest)
          })
        return { ...service, claim: answering }
      },
    }
    const process = boot(lab, gate)
    const resumed = await process.runPromise(
      Effect.gen(function* () {
        yield* Layer.build(recoveryLayer)
        const engine = yield* RunEngine
        const at = yield* Effect.forEach(heads, ({ id }) =>
          engine.events(id, 0).pipe(
            Stream.filter(({ event }) => event.type === "Resumed"),
            Stream.runHead,
            Effect.map((entry) => [id, Option.getOrThrow(entry).at.getTime()] as const),
          ),
        )
        yield* Effect.forEach(heads, ({ id }) => engine.wait(id))
        return at
      }).pipe(Effect.scoped),
    )
    await process.dispose()
    const late = resumed.find(([id]) => id === stuck)?.[1] ?? Infinity
    const others = resumed.flatMap(([id, at]) => (id === stuck ? [] : [at]))
    expect(others[0]).toBe(others[1])
    expect(late - others[0]!).toBeGreaterThan(0)
    expect(late - others[0]!).toBeLessThan(10_000)
  })
})

describe("two requests for one range", () => {
  it("refuse the later one with the same message, whether the engine or the store notices", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    /** Reports no run, as when another one opens just afterwards. */
    const looksTooEarly: CrashGate = {
      ...makeCrashGate(),
      guard: (port, service) => (port === "RunJournal" ? { ...service, active: () => Effect.succeed(undefined) } : service),
    }
    const [one, two] = [boot(lab, undefined, { owner: "one" }), boot(lab, looksTooEarly, { owner: "two" })]
    const head = await engineOf(one, (engine) => engine.start(rangeRequest(range, deploy), admin))
    for (const process of [one, two]) {
      const refused = await engineOf(process, (engine) => Effect.flip(engine.start(rangeRequest(range, deploy), admin)))
      expect(refused).toMatchObject({
        _tag: "RangeBusy",
        message: `Cannot change range LAB: run ${head.id} (a deploy) is changing it`,
      })
    }
    await Promise.all([one.dispose(), two.dispose()])
  })

  it("start one run, and the other request is told which run changes the range", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    const results = await engineOf(process, (engine) =>
      Effect.all(
        [1, 2, 3].map(() => Effect.result(engine.start(rangeRequest(range, deploy), admin))),
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

  it("a plan that another run has outdated meanwhile is made again", async () => {
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

  it("many concurrent ranges never share a VMID", async () => {
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
