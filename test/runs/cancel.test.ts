import { rangeRequest } from "@rangewright/application"
import { RunEngine, runKind, work } from "@rangewright/run-engine"
import { installation, type RunId, waitingFor, workPlan } from "@rangewright/domain"
import { HypervisorFault, type RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { type CrashGate, makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy, endOf, engineOf, makeLab, startAndWait, strays } from "./support/lab.ts"

const names = ["vm1", "vm2"]

/** Cancels a deploy as soon as its journal has `seq` entries. */
const cancelAt = async (seq: number) => {
  const lab = makeLab(names)
  const range = await createRange(lab)
  const process = boot(lab)
  const result = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const head = yield* engine.start(rangeRequest(range, deploy), admin)
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
    "at any moment starts nothing new, lets tasks in flight settle, shows at once, and the next deploy completes the work",
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
        // steps with free slots when the cancel came may have begun at the same instant
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

  it("of a run that waits for an unreachable hypervisor ends it", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    lab.world.fault = ({ action, method }) =>
      action !== undefined || (method === "observe" && lab.store.runs.size > 0) ? { when: "before", reason: "away" } : undefined
    const state = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const head = yield* engine.start(rangeRequest(range, deploy), admin)
        yield* Effect.sleep(60_000)
        expect(waitingFor(yield* engine.state(head.id))).toContain("told to fail")
        expect(yield* engine.cancel(head.id, admin)).toBe(true)
        return yield* engine.wait(head.id)
      }),
    )
    await process.dispose()
    expect(state.status).toBe("aborted")
  })

  it("of a run that has ended changes nothing", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const process = boot(lab)
    const { head } = await startAndWait(process, range)
    expect(await engineOf(process, (engine) => engine.cancel(head.id, admin))).toBe(false)
    expect(lab.store.ranges.get(range.id)?.state).toBe("SUCCESS")
    await process.dispose()
  })

  it("requested from one process reaches the worker in another", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const [one, two] = [boot(lab, undefined, { owner: "one" }), boot(lab, undefined, { owner: "two" })]
    const head = await engineOf(one, (engine) => engine.start(rangeRequest(range, deploy), admin))
    const state = await engineOf(two, (engine) => Effect.andThen(engine.cancel(head.id, admin), engine.wait(head.id)))
    expect(state.status).toBe("aborted")
    await Promise.all([one.dispose(), two.dispose()])
  })
})

describe("a cancel around the restart after a process died while it began steps", () => {
  type Order = readonly ["cancel", "recover"] | readonly ["recover", "cancel"]

  /** Kills a deploy at this moment; the next process resumes and cancels it in this order. */
  const cancelAfterDeath = async (at: number, order: Order) => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const gate = makeCrashGate(at)
    const dying = boot(lab, gate)
    const head = await engineOf(dying, (engine) => engine.start(rangeRequest(range, deploy), admin))
    await engineOf(dying, (engine) => Effect.raceFirst(engine.wait(head.id), gate.died)).catch(() => undefined)
    await dying.dispose().catch(() => undefined)
    const begun = new Set<string>()
    for (const { event } of lab.store.runs.get(head.id)?.entries ?? []) if (event.type === "StepStarted") begun.add(event.key)
    const next = boot(lab)
    const state = await engineOf(next, (engine) =>
      Effect.gen(function* () {
        for (const act of order) yield* act === "cancel" ? engine.cancel(head.id, admin) : engine.recover
        return yield* engine.wait(head.id)
      }),
    )
    const resumed = await startAndWait(next, range)
    await next.dispose()
    const skipped = [...state.steps.values()].filter(({ phase }) => phase === "skipped").map(({ step }) => step.key)
    return { lab, begun, skipped, state, resumed: resumed.state }
  }

  it.each<{ order: Order }>([{ order: ["cancel", "recover"] }, { order: ["recover", "cancel"] }])(
    "in the order $order reports no step as not run whose call may have been made",
    { timeout: 60_000 },
    async ({ order }) => {
      const whole = makeLab(names)
      const gate = makeCrashGate()
      const process = boot(whole, gate)
      await startAndWait(process, await createRange(whole))
      await process.dispose()
      const moments = gate.trace.flatMap((moment, i) => (/^after \w+\.dispatch$/u.test(moment) ? [i + 1] : []))
      expect(moments.length).toBeGreaterThan(6)
      let left = 0
      for (const at of moments) {
        const { lab, begun, skipped, state, resumed } = await cancelAfterDeath(at, order)
        expect([state.status, resumed.status, strays(lab)]).toEqual(["aborted", "success", []])
        expect(skipped.filter((key) => begun.has(key))).toEqual([])
        left += skipped.length
      }
      expect(left).toBeGreaterThan(moments.length)
    },
  )

  it("drops a step that still waited for the hypervisor, since nothing of it was done", async () => {
    const lab = makeLab(["vm1"])
    const range = await createRange(lab)
    const process = boot(lab)
    lab.world.fault = ({ action, method }) =>
      action?.kind === "clone" || (method === "observe" && lab.store.runs.size > 0)
        ? { when: "before", reason: "away" }
        : undefined
    const head = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const run = yield* engine.start(rangeRequest(range, deploy), admin)
        yield* Stream.runDrain(Stream.takeUntil(engine.events(run.id, 0), ({ event }) => event.type === "Waiting"))
        return run
      }),
    )
    await process.dispose()
    lab.world.fault = () => undefined
    const next = boot(lab)
    const state = await engineOf(next, (engine) =>
      engine.cancel(head.id, admin).pipe(Effect.andThen(engine.recover), Effect.andThen(engine.wait(head.id))),
    )
    await next.dispose()
    expect(state.steps.get("clone:vm1")).toMatchObject({ phase: "skipped", skippedBecause: "the run was aborted" })
    expect(endOf(lab).vms).toEqual([])
  })
})

/** Takes ten seconds. */
const walk = work({ name: "walk", input: Schema.Struct({}), settle: () => Effect.as(Effect.sleep(10_000), {}) })
/** Takes ten seconds, and then finds the hypervisor unreachable. */
const leap = work({
  name: "leap",
  input: Schema.Struct({}),
  settle: () =>
    Effect.andThen(
      Effect.sleep(10_000),
      Effect.fail(new HypervisorFault({ doing: "leap", reason: "away", detail: "no route to host" })),
    ),
})
const leaping = runKind({
  name: "leaping",
  doing: "a leap",
  request: Schema.Struct({}),
  plan: () =>
    Effect.succeed(
      workPlan([
        walk.step({ key: "walk", title: "Walk", estimate: 10 }, {}),
        leap.step({ key: "leap", title: "Leap", after: ["walk"], estimate: 10, pointOfNoReturn: true }, {}),
      ]),
    ),
  works: [walk, leap],
})

/** Delays every cancel at the store until the run's journal has the beginning of that step. */
const lateCancels = (key: string): CrashGate => ({
  ...makeCrashGate(),
  guard: <S extends object>(port: string, service: S): S => {
    if (port !== "RunJournal") return service
    const journal = service as unknown as RunJournal["Service"]
    const begun = (runId: RunId) =>
      Effect.map(journal.read(runId, 0), (entries) =>
        entries.some(({ event }) => event.type === "StepStarted" && event.key === key),
      )
    const late: RunJournal["Service"] = {
      ...journal,
      requestCancel: (runId, ...rest) =>
        Effect.sleep(1000).pipe(
          Effect.repeat({ until: () => Effect.orDie(begun(runId)) }),
          Effect.andThen(journal.requestCancel(runId, ...rest)),
        ),
    }
    return late as unknown as S
  },
})

describe("a cancel shortly before a point of no return", () => {
  it("is refused without a trace, and a later one is accepted when the run waits for a hypervisor that never returns", async () => {
    const lab = makeLab([])
    lab.world.fault = ({ method }) => (method === "observe" ? { when: "before", reason: "away" } : undefined)
    const process = boot(lab, lateCancels("leap"), undefined, [leaping])
    const told = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const head = yield* engine.start(leaping.request(installation, {}), admin)
        const until = (type: string) =>
          Stream.runDrain(Stream.takeUntil(engine.events(head.id, 0), ({ event }) => event.type === type))
        yield* until("StepStarted")
        const refused = yield* Effect.flip(engine.cancel(head.id, admin))
        const traces = lab.store.runs.get(head.id)?.entries.filter(({ event }) => event.type === "CancelRequested")
        yield* until("Waiting")
        expect(yield* engine.cancel(head.id, admin)).toBe(true)
        return { refused, traces, state: yield* Effect.timeout(engine.wait(head.id), 3_600_000) }
      }),
    )
    await process.dispose()
    expect(told).toMatchObject({ refused: { kind: "conflict" }, traces: [], state: { status: "aborted" } })
  })
})
