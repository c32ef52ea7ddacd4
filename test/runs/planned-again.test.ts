import { RunPlanner } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { type Fault, type Json, rangeSubject, type RunHead, type RunId, waitingFor } from "@rangewright/domain"
import { HypervisorFault, type HypervisorReason, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy, makeLab } from "./support/lab.ts"
import { planOf } from "./support/lab-plan.ts"

const anHour = 3600

/** The state of a deploy an hour after its worker died before planning, if each plan meets the fault for this many seconds. */
const hourAfter = async (fault: Fault, seconds: number) => {
  const clock = { since: 0 }
  const lab = makeLab(
    [],
    Layer.succeed(RunPlanner, {
      drift: () => Effect.die(new Error("nothing is compared here")),
      plan: (range) =>
        Effect.suspend(() =>
          lab.clock.now() - clock.since < seconds * 1000 ? Effect.fail(fault) : Effect.succeed(planOf(range.id, [])),
        ),
    }),
  )
  const range = await createRange(lab)
  const process = boot(lab)
  const state = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      clock.since = lab.clock.now()
      const head: RunHead = {
        id: "died00000000000" as RunId,
        kind: "deploy",
        subject: rangeSubject(range.id),
        by: admin,
        options: deploy as unknown as Json,
        startedAt: new Date(clock.since),
      }
      yield* (yield* RunJournal).open(head, "DEPLOYING")
      yield* engine.recover
      yield* Effect.sleep(anHour * 1000)
      return yield* engine.state(head.id)
    }),
  )
  await process.dispose()
  return {
    status: state.status,
    message: state.message,
    waiting: waitingFor(state),
    shown: lab.store.ranges.get(range.id)?.state,
  }
}

const faultOf = (reason: HypervisorReason) => new HypervisorFault({ doing: "observe", reason, detail: "y" })
const passesAfter: Readonly<Record<HypervisorReason, "no time" | "some seconds" | "a minute" | "any time">> = {
  away: "any time",
  "no-quorum": "any time",
  "unknown-effect": "some seconds",
  unauthenticated: "some seconds",
  forbidden: "some seconds",
  locked: "a minute",
  "not-found": "no time",
  taken: "no time",
  invalid: "no time",
  "not-ours": "no time",
  exhausted: "no time",
  failed: "no time",
}
const secondsOf = { "no time": 1, "some seconds": 5, "a minute": 60, "any time": 1800 } as const

describe("a run whose planning is repeated after a fault", () => {
  it.each(Object.entries(passesAfter) as [HypervisorReason, (typeof passesAfter)[HypervisorReason]][])(
    "%s: can still be planned after %s",
    async (reason, time) => {
      const fault = faultOf(reason)
      const short = await hourAfter(fault, secondsOf[time])
      expect([short.status, short.shown]).toEqual(time === "no time" ? ["failure", "ERROR"] : ["success", "SUCCESS"])
      const forEver = await hourAfter(fault, 2 * anHour)
      if (time === "any time") expect(forEver).toMatchObject({ status: "running", waiting: fault.message, shown: "DEPLOYING" })
      else expect(forEver).toMatchObject({ status: "failure", message: fault.message, shown: "ERROR" })
    },
  )
})
