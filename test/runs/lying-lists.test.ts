import { makeObserver, RunPlanner, rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { CannotPlan, type Range } from "@rangewright/domain"
import { HypervisorFault, Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy, startAndWait } from "./support/lab.ts"
import { makeLyingLists } from "./support/lying-lists.ts"
import { makeSimCompany, type SimLab, simEnd } from "./support/sim-lab.ts"

/** The stored stages, and the stages that ran, in an order that does not depend on time. */
const inOrder = (texts: readonly string[]): readonly string[] => texts.toSorted((a, b) => (a < b ? -1 : 1))
const remembered = ({ store }: SimLab) =>
  inOrder(
    [...store.stages.values()].flatMap((byVm) =>
      [...byVm].flatMap(([vmid, stages]) => [...stages].map((stage) => [vmid, ...stage].join(" "))),
    ),
  )
const machinesRemembered = ({ store }: SimLab): number => [...store.stages.values()].reduce((sum, byVm) => sum + byVm.size, 0)

/** Refused for a reason that a person can read. */
const isRefusal = (fault: unknown): boolean => fault instanceof CannotPlan || fault instanceof HypervisorFault

const deployedCompany = async (seed: number) => {
  const { lists, between } = makeLyingLists(seed)
  const lab = makeSimCompany(1, between)
  const range = await createRange(lab)
  const process = boot(lab)
  const { state } = await startAndWait(process, range)
  expect(state.message).toBe("")
  return { lists, lab, range, process }
}

/** The observer as it ticks in a service, each time with different lists. */
const observing = (lists: ReturnType<typeof makeLyingLists>["lists"], every = 10_000) =>
  Effect.gen(function* () {
    const tick = yield* makeObserver
    const step = Effect.andThen(Effect.sync(lists.change), Effect.andThen(Effect.ignore(tick), Effect.sleep(every)))
    yield* Effect.forkScoped(Effect.forever(step))
  })

describe("with partial, stale or empty lists, and rights lost for seconds", () => {
  it(
    "while idle, no stage is forgotten, and no plan would repeat one or create a machine again",
    { timeout: 120_000 },
    async () => {
      const { lists, lab, range, process } = await deployedCompany(1)
      const before = remembered(lab)
      expect(before.length).toBeGreaterThan(3)
      const planned = { empty: 0, refused: 0 }
      await process.runPromise(
        Effect.gen(function* () {
          const machines = yield* Machines
          const planner = yield* RunPlanner
          const tick = yield* makeObserver
          for (let n = 0; lists.told < 800; n++) {
            lists.change()
            yield* tick
            yield* Effect.sleep(10_000)
            expect(remembered(lab)).toEqual(before)
            expect((yield* machines.ofRange(range.id)).length).toBe(machinesRemembered(lab))
            if (n % 8 !== 0) continue
            lists.change()
            const moment = n % 16 === 0 ? "preview" : "before opening"
            const plan = yield* Effect.result(planner.plan(range, deploy, admin, moment))
            if (Result.isFailure(plan)) {
              expect(isRefusal(plan.failure), plan.failure.message).toBe(true)
              planned.refused += 1
            } else {
              const kinds = plan.success.steps.map(({ action }) => action.kind)
              expect(kinds.filter((kind) => !["start", "grant-access", "create-pool"].includes(kind))).toEqual([])
              planned.empty += 1
            }
            expect(remembered(lab)).toEqual(before)
          }
        }).pipe(Effect.provide(lab.planner)),
      )
      await process.dispose()
      expect(planned.empty).toBeGreaterThan(10)
      expect(planned.refused).toBeGreaterThan(10)
    },
  )

  it(
    "during runs, each stage runs once, no machine is created twice, and the end is the same",
    { timeout: 240_000 },
    async () => {
      const quiet = await deployedCompany(2)
      const end = simEnd(quiet.lab)
      const done = remembered(quiet.lab)
      const ran = inOrder(quiet.lists.stages)
      await quiet.process.dispose()
      let told = 0
      for (let seed = 1; told < 600; seed++) {
        const { lists, between } = makeLyingLists(seed)
        const lab = makeSimCompany(1, between)
        const range = await createRange(lab)
        const process = boot(lab)
        await process.runPromise(deployUntilDone(range, lists).pipe(Effect.scoped))
        await process.dispose()
        expect(inOrder(lists.stages), `seed ${seed}`).toEqual(ran)
        expect(simEnd(lab), `seed ${seed}`).toEqual(end)
        expect(remembered(lab), `seed ${seed}`).toEqual(done)
        told += lists.told
      }
    },
  )

  it(
    "while the range's VMs are removed, none is left when the run reports that they are gone",
    { timeout: 120_000 },
    async () => {
      for (let seed = 10; seed < 20; seed++) {
        const { lists, lab, range, process } = await deployedCompany(seed)
        const removed = await process.runPromise(
          Effect.gen(function* () {
            const engine = yield* RunEngine
            yield* observing(lists, 3000)
            for (;;) {
              const run = yield* Effect.result(engine.start(rangeRequest(range, { kind: "destroy" }), admin))
              if (Result.isFailure(run)) expect(isRefusal(run.failure), run.failure.message).toBe(true)
              else if ((yield* engine.wait(run.success.id)).status === "success") return true
              yield* Effect.sleep(7000)
            }
          }).pipe(Effect.scoped),
        )
        expect(removed).toBe(true)
        expect(simEnd(lab).vms, `seed ${seed}`).toEqual([])
        await process.dispose()
      }
    },
  )
})

/** Deploys while the lists change all the time, and asks again after each refusal or early end. */
const deployUntilDone = Effect.fnUntraced(function* (range: Range, lists: ReturnType<typeof makeLyingLists>["lists"]) {
  const engine = yield* RunEngine
  yield* observing(lists, 4000)
  for (let tries = 0; tries < 200; tries++) {
    const run = yield* Effect.result(engine.start(rangeRequest(range, deploy), admin))
    if (Result.isFailure(run)) expect(isRefusal(run.failure), run.failure.message).toBe(true)
    else if ((yield* engine.wait(run.success.id)).status === "success") return
    yield* Effect.sleep(7000)
  }
  expect.fail("the deploy never ended well")
})
