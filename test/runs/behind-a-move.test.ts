import { RunPlanner, rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import {
  CannotPlan,
  type Fault,
  installation,
  InvalidInput,
  type Range,
  renderLog,
  type RunHead,
  waitingFor,
} from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { type CrashGate, makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy, endOf, type Lab, makeLab, outlives, strays } from "./support/lab.ts"
import { planOf } from "./support/lab-plan.ts"
import { move } from "./support/move.ts"

const open = (lab: Lab, gate: CrashGate = makeCrashGate(), owner = "service") => boot(lab, gate, { owner }, [move])
const startMove = Effect.flatMap(RunEngine, (engine) => engine.start(move.request(installation, {}), admin))
const startDeploy = (range: Range) => Effect.flatMap(RunEngine, (engine) => engine.start(rangeRequest(range, deploy), admin))
const starts = { deploy: startDeploy, move: () => startMove } as const

const entriesOf = ({ store }: Lab, { id }: Pick<RunHead, "id">) => store.runs.get(id)?.entries ?? []
const eventsOf = (lab: Lab, head: Pick<RunHead, "id">) => entriesOf(lab, head).map(({ event }) => event)
const until = (head: Pick<RunHead, "id">, type: string) =>
  Effect.flatMap(RunEngine, (engine) =>
    Stream.runDrain(Stream.takeUntil(engine.events(head.id, 0), ({ event }) => event.type === type)),
  )

/** From the first effect of a run, apart from waiting, to its end. */
const spanOf = (lab: Lab, head: Pick<RunHead, "id">): readonly [from: number, to: number] => {
  const entries = entriesOf(lab, head)
  const from = entries.find(({ event }) => event.type === "StepStarted" && event.key !== "rest")?.at.getTime() ?? Infinity
  const end = entries.findLast(({ event }) => event.type === "Ended")
  return [from, end?.at.getTime() ?? -Infinity]
}

describe("a deploy requested while a run changes the whole installation", () => {
  it("is accepted, shows as DEPLOYING with what it waits for, and is planned when its turn comes", async () => {
    const lab = makeLab(["vm1"])
    const range = await createRange(lab)
    const process = open(lab)
    const told = await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const moving = yield* startMove
        yield* until(moving, "StepStarted")
        const deployment = yield* startDeploy(range)
        yield* until(deployment, "Waiting")
        const state = yield* engine.state(deployment.id)
        const shown = lab.store.ranges.get(range.id)?.state
        const machines = lab.world.vms.size
        const ends = yield* Effect.forEach([moving, deployment], ({ id }) => engine.wait(id))
        return { moving, deployment, state, shown, machines, ends }
      }),
    )
    await process.dispose()
    const { moving, deployment } = told
    expect(told.shown).toBe("DEPLOYING")
    expect(waitingFor(told.state)).toBe(
      `run ${moving.id} (move) is changing the whole installation; this run starts when that one has ended`,
    )
    expect([told.state.plan, told.machines]).toEqual([undefined, 1])
    expect(told.ends.map(({ status }) => status)).toEqual(["success", "success"])
    expect(lab.store.ranges.get(range.id)?.state).toBe("SUCCESS")
    expect(eventsOf(lab, deployment).slice(0, 3)).toMatchObject([
      { type: "Waiting", behind: moving.id },
      { type: "Continued", behind: moving.id },
      { type: "Planned" },
    ])
    expect(spanOf(lab, deployment)[0]).toBeGreaterThanOrEqual(spanOf(lab, moving)[1])
    expect(renderLog(deployment, entriesOf(lab, deployment))).toContain(`TASK [Wait for run ${moving.id}]`)
  })

  it("is not waited for by that run, which only waits for earlier runs", async () => {
    const lab = makeLab(["vm1"])
    const [before, after] = [await createRange(lab), await createRange(lab, "OTHER", 8)]
    const process = open(lab)
    const heads = await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const first = yield* startDeploy(before)
        const moving = yield* startMove
        const second = yield* startDeploy(after)
        yield* Effect.forEach([first, moving, second], ({ id }) => engine.wait(id))
        return { first, moving, second }
      }),
    )
    await process.dispose()
    const [first, moving, second] = [heads.first, heads.moving, heads.second].map((head) => spanOf(lab, head))
    expect(first![1]).toBeLessThanOrEqual(moving![0])
    expect(moving![1]).toBeLessThanOrEqual(second![0])
    expect(second![1]).toBeLessThan(Infinity)
  })

  it("ends at once when it is aborted, and has done nothing", async () => {
    const lab = makeLab(["vm1"])
    const range = await createRange(lab)
    const process = open(lab)
    const told = await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const moving = yield* startMove
        const deployment = yield* startDeploy(range)
        yield* until(deployment, "Waiting")
        expect(yield* engine.cancel(deployment.id, admin)).toBe(true)
        const state = yield* engine.wait(deployment.id)
        return { state, moving: (yield* engine.state(moving.id)).status, deployment }
      }),
    )
    await process.dispose()
    expect(told.state).toMatchObject({ status: "aborted", message: "the run was aborted before it started", plan: undefined })
    expect(told.moving).toBe("running")
    expect(eventsOf(lab, told.deployment).map(({ type }) => type)).toEqual(["Waiting", "CancelRequested", "Ended"])
    expect(lab.store.ranges.get(range.id)?.state).toBe("ABORTED")
    expect(endOf(lab).vms).toEqual([])
  })

  it("waits even if another process works on that run", async () => {
    const lab = makeLab(["vm1"])
    const range = await createRange(lab)
    const [one, two] = [open(lab, makeCrashGate(), "one"), open(lab, makeCrashGate(), "two")]
    const moving = await one.runPromise(startMove)
    const [deployment, state] = await two.runPromise(
      Effect.gen(function* () {
        const head = yield* startDeploy(range)
        return [head, yield* (yield* RunEngine).wait(head.id)] as const
      }),
    )
    await Promise.all([one.dispose(), two.dispose()])
    expect(state.status).toBe("success")
    expect(spanOf(lab, deployment)[0]).toBeGreaterThanOrEqual(spanOf(lab, moving)[1])
  })

  /** A planner that fails with this fault as long as the move is in progress. */
  const planningMeets = (lab: () => Lab, fault: Fault) =>
    Layer.succeed(RunPlanner, {
      drift: () => Effect.die(new Error("nothing is compared here")),
      plan: (range) =>
        Effect.suspend(() => {
          const moving = [...lab().store.runs.values()].some(
            ({ record }) => record.kind === "move" && record.status === "running",
          )
          return moving ? Effect.fail(fault) : Effect.succeed(planOf(range.id, []))
        }),
    })

  it("is accepted although the changing world stands in its way, and refused if its request is wrong", async () => {
    const inTheWay = new CannotPlan({ doing: "deploy", issues: [{ code: "zone-unusable", message: "there is no zone yet" }] })
    const faults = { accepted: inTheWay, refused: new InvalidInput({ what: "Cannot deploy: what an idea" }) }
    for (const [outcome, fault] of Object.entries(faults)) {
      const lab: Lab = makeLab(
        [],
        planningMeets(() => lab, fault),
      )
      const range = await createRange(lab)
      const process = open(lab)
      const status = await process.runPromise(
        Effect.gen(function* () {
          yield* startMove
          const head = yield* startDeploy(range)
          return (yield* (yield* RunEngine).wait(head.id)).status
        }).pipe(Effect.catch((met) => Effect.succeed(met.message))),
      )
      await process.dispose()
      expect(status).toBe(outcome === "accepted" ? "success" : fault.message)
      expect(lab.store.ranges.get(range.id)?.state).toBe(outcome === "accepted" ? "SUCCESS" : "NEVER DEPLOYED")
    }
  })
})

describe("a deploy that was planned before a run changed the whole installation", () => {
  it("is planned again if that run came and went before it opened", async () => {
    let plans = 0
    const planner = Layer.effect(
      RunPlanner,
      Effect.map(RunJournal, (journal) => ({
        drift: () => Effect.die(new Error("nothing is compared here")),
        plan: (range: Range) =>
          Effect.gen(function* () {
            plans += 1
            if (plans > 1) return planOf(range.id, [])
            const head = { id: "move00000000000" as RunHead["id"], kind: "move", subject: installation, by: admin, options: {} }
            yield* journal.open({ ...head, startedAt: new Date(0) }, undefined)
            yield* journal.close(head.id, 0, { type: "Ended", status: "success", message: "" }, undefined, new Date(1))
            return planOf(range.id, [])
          }),
      })),
    )
    const lab = makeLab([], planner)
    const range = await createRange(lab)
    const process = open(lab)
    const state = await process.runPromise(
      Effect.gen(function* () {
        const head = yield* startDeploy(range)
        return yield* (yield* RunEngine).wait(head.id)
      }),
    )
    await process.dispose()
    expect([state.status, plans]).toEqual(["success", 2])
  })
})

describe("a process that dies at any moment between a deploy and a run about the whole installation", () => {
  type Order = readonly ["deploy", "move"] | readonly ["move", "deploy"]

  /** Starts both in this order; dies at the gate's moment. The next process repeats unacknowledged requests in the same order. */
  const bothRuns = async (order: Order, at?: number) => {
    const lab = makeLab(["vm1"])
    const range = await createRange(lab)
    const heads: RunHead[] = []
    const gate = makeCrashGate(at, at === undefined ? () => outlives(lab) : undefined)
    const dying = open(lab, gate)
    const both = Effect.gen(function* () {
      const engine = yield* RunEngine
      for (const what of order.slice(heads.length)) heads.push(yield* starts[what](range))
      for (const { id } of heads) yield* engine.wait(id)
    })
    await dying.runPromise(Effect.raceFirst(both, gate.died)).catch(() => undefined)
    await dying.dispose().catch(() => undefined)
    if (at === undefined) return { lab, heads, gate }
    const next = open(lab)
    await next.runPromise(
      Effect.gen(function* () {
        yield* (yield* RunEngine).recover
        const known = yield* (yield* RunJournal).list({ limit: 10 })
        // a run that was opened and never acknowledged resumes automatically
        for (const what of order.slice(heads.length)) {
          const there = known.find(({ kind }) => kind === what)
          if (there === undefined) break
          heads.push(there)
        }
        yield* both
      }),
    )
    await next.dispose()
    return { lab, heads, gate }
  }

  it.each<{ order: Order }>([{ order: ["deploy", "move"] }, { order: ["move", "deploy"] }])(
    "leaves $order, one waiting for the other, and both finish",
    { timeout: 120_000 },
    async ({ order }) => {
      const whole = await bothRuns(order)
      const end = endOf(whole.lab)
      expect(end.vms).toHaveLength(1)
      const broken: unknown[] = []
      const moments = whole.gate.distinct()
      expect(moments.length).toBeGreaterThan(20)
      for (const at of moments) {
        const { lab, heads, gate } = await bothRuns(order, at)
        const spans = heads.map((head) => spanOf(lab, head))
        const statuses = heads.map(({ id }) => lab.store.runs.get(id)?.record.status)
        try {
          expect([statuses, lab.store.runs.size]).toEqual([["success", "success"], 2])
          expect([endOf(lab), strays(lab)]).toEqual([end, []])
          expect(spans[0]![1]).toBeLessThanOrEqual(spans[1]![0])
        } catch (error) {
          broken.push({ at, moment: gate.trace.at(-1), error: String(error).slice(0, 1500) })
        }
      }
      expect(broken).toEqual([])
    },
  )
})
