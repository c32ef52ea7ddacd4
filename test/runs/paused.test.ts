import { type RunRequest, rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy, engineOf, type Lab, makeCompany, startAndWait } from "./support/lab.ts"
import { makePauseGate } from "./support/pause-gate.ts"

/** Calls that change the world, or what the store says of it. The store itself refuses appends and endings. */
const changing =
  /^(?:Hypervisor\.(?:dispatch|adopt)|HypervisorNetwork\.(?!observe)|HypervisorAccess\.(?:ensure|remove|grant|revoke)|GuestAutomation\.dispatch|Machines\.(?:record|recordStage|forget|keep.*|reported|reserve|release|replace.*)|Ranges\.(?:remove|change|set.*))/u

const stored = ({ store }: Lab) => JSON.stringify([[...store.machines], [...store.stages], [...store.logins], [...store.ranges]])

/**
 * A process stalls on the return of its n-th call while it works on the request; another one takes over the run when the lease has
 * ended, and finishes it. Then the first one wakes; returns its changing calls after that, and whether the store changed. Undefined if
 * there was no run yet, "over" if there were fewer calls.
 */
const wakeAfter = async (nth: number, request: RunRequest, before: readonly RunRequest[]) => {
  const lab = makeCompany()
  const range = await createRange(lab)
  const second = boot(lab, undefined, { owner: "second" })
  for (const each of before) await startAndWait(second, range, each)
  const gate = makePauseGate(nth)
  const first = boot(lab, gate, { owner: "first" })
  const work = RunEngine.use((engine) =>
    Effect.flatMap(engine.start(rangeRequest(range, request), admin), ({ id }) => engine.wait(id)),
  )
  await first.runPromise(Effect.forkDetach(work))
  const runs = () => [...lab.store.runs.values()].map(({ record }) => record).filter(({ kind }) => kind === request.kind)
  let opened = false
  const isOver = () => {
    opened ||= runs().length > 0
    return opened && runs().every(({ status }) => status !== "running")
  }
  await engineOf(second, (engine) =>
    Effect.gen(function* () {
      while (!isOver() && (opened || !gate.paused())) {
        yield* Effect.sleep(5000)
        if (gate.paused()) yield* engine.recover
      }
    }),
  )
  // another range of that name, if it was removed: not the one that the first process knows
  if (lab.store.ranges.size === 0) await createRange(lab)
  const [paused, left] = [gate.paused(), stored(lab)]
  gate.wake()
  await second.runPromise(Effect.sleep(120_000))
  await Promise.all([first.dispose(), second.dispose()])
  if (!paused) return "over"
  if (!opened) return undefined
  return { where: gate.trace[nth - 1], calls: gate.since.filter((call) => changing.test(call)), same: stored(lab) === left }
}

describe("a process that stalled for longer than its lease", () => {
  it.each<readonly [string, RunRequest, readonly RunRequest[]]>([
    ["a deploy", deploy, []],
    ["the removal of its VMs", { kind: "destroy" }, [deploy]],
    ["the removal of the range", { kind: "delete-range", force: true }, [deploy]],
  ])("changes nothing when it wakes up during %s", { timeout: 120_000 }, async (_, request, before) => {
    let tried = 0
    const bad: unknown[] = []
    for (let nth = 3; ; nth += 4) {
      const woken = await wakeAfter(nth, request, before)
      if (woken === "over") break
      if (woken === undefined) continue
      tried += 1
      if (woken.calls.length > 0 || !woken.same) bad.push({ nth, ...woken })
    }
    expect(bad).toEqual([])
    expect(tried).toBeGreaterThan(20)
  })
})
