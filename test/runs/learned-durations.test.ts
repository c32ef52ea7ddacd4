import type { MemoryCall } from "@rangewright/adapter-memory"
import { RunPlanner, rangeRequest } from "@rangewright/application"
import { isFromEarlierRuns, type Plan, progressOf, type Range, type Step, type UserId } from "@rangewright/domain"
import { StepDurations, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { newUser, userId } from "../contracts/storage/samples.ts"
import { admin, boot, createRange, deploy, engineOf, type Lab, makeCompany, type Process, startAndWait } from "./support/lab.ts"

const preview = (process: Process, range: Range, by = admin): Promise<Plan> =>
  process.runPromise(Effect.flatMap(RunPlanner, (planner) => planner.plan(range, deploy, by, "preview")))
const known = (process: Process) => process.runPromise(Effect.flatMap(StepDurations, (durations) => durations.known(admin)))
const timed = ({ steps }: Plan): readonly Step[] => steps.filter(({ timedAs }) => timedAs !== undefined)

const inLab = async (use: (lab: Lab, range: Range, process: Process) => Promise<void>) => {
  const lab = makeCompany()
  const range = await createRange(lab)
  const process = boot(lab)
  try {
    await use(lab, range, process)
  } finally {
    await process.dispose()
  }
}

describe("the durations of a deploy's steps", () => {
  it("are what the next range expects, and then it takes that long", async () => {
    await inLab(async (lab, range, process) => {
      const first = await startAndWait(process, range)
      expect(first.state.status).toBe("success")
      expect(timed(first.state.plan!).length).toBeGreaterThan(10)
      expect(timed(first.state.plan!).filter(({ learned }) => learned)).toEqual([])
      const other = await createRange(lab, "LAB2", 8)
      const plan = await preview(process, other)
      expect(timed(plan).filter(({ learned }) => learned !== true)).toEqual([])
      expect(isFromEarlierRuns(plan.steps)).toBe(true)
      const second = await startAndWait(process, other)
      expect(second.state.status).toBe("success")
      expect(second.state.plan?.criticalPathSeconds).toBe(plan.criticalPathSeconds)
      const took = (second.state.endedAt!.getTime() - second.head.startedAt.getTime()) / 1000
      expect(plan.criticalPathSeconds / took).toBeGreaterThan(0.8)
      expect(plan.criticalPathSeconds / took).toBeLessThan(1.25)
      expect(progressOf(second.state, second.state.endedAt!)).toMatchObject({ remainingSeconds: 0, late: false })
    })
  })

  it("are learned from the steps that succeeded in a run that failed, and not from those that did not", async () => {
    await inLab(async ({ world }, range, process) => {
      let settled = 0
      const isBroken = ({ port, method }: MemoryCall): boolean => port === "guest" && method === "settle" && ++settled > 3
      world.fault = (call) => (isBroken(call) ? { reason: "invalid", when: "before" } : undefined)
      const { state } = await startAndWait(process, range)
      expect(state.status).toBe("failure")
      expect([...(await known(process)).keys()].sort()).toEqual(
        [
          ...new Set([...state.steps.values()].flatMap(({ step, phase }) => (phase === "settled" ? (step.timedAs ?? []) : []))),
        ].sort(),
      )
    })
  })

  it("of a role that is a user's own stay with that user", async () => {
    await inLab(async (lab, range, process) => {
      const [alice, bob] = [userId("alice"), userId("bob")]
      lab.world.ownRoles = new Set(["shop_database"])
      const { store } = lab
      for (const name of ["alice", "bob"]) await process.runPromise(Users.use((users) => users.create(newUser(name))))
      const head = await engineOf(process, (engine) => engine.start(rangeRequest(range, deploy), alice))
      expect((await engineOf(process, (engine) => engine.wait(head.id))).status).toBe("success")
      const other = await createRange(lab, "LAB2", 8)
      const learnedRoles = async (by: UserId) =>
        (await preview(process, other, by)).steps.flatMap(({ action, title, learned }) =>
          learned === true && action.kind === "guest" && action.stage === "role" ? [title] : [],
        )
      expect(await learnedRoles(alice)).toEqual(["Run role shop_database on LAB2-web01", "Run role web_shop on LAB2-web01"])
      expect(await learnedRoles(bob)).toEqual(["Run role web_shop on LAB2-web01"])
      expect([...store.durations.keys()].filter((name) => name.includes("shop_database"))).toEqual([])
    })
  })
})
