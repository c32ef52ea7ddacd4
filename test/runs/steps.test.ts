import { rangeRequest } from "@rangewright/application"
import { foldRun, type JournalEntry, renderLog, type RunState, simulateSchedule, waitingFor } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { makeCrashGate } from "./support/crash-gate.ts"
import { boot, createRange, deploy, admin, endOf, engineOf, type Lab, makeCompany, makeLab, startAndWait } from "./support/lab.ts"

const journalOf = (lab: Lab, runId: string): readonly JournalEntry[] =>
  [...lab.store.runs.values()].find(({ record }) => record.id === runId)?.entries ?? []

/** The largest number of steps of this kind in progress at one moment, over all runs. */
const mostAtOnce = (states: readonly RunState[], kind: string): number => {
  const spans = states.flatMap(({ steps }) =>
    [...steps.values()]
      .filter(({ step }) => step.action.kind === kind)
      .map(({ startedAt, endedAt }) => [startedAt!.getTime(), endedAt!.getTime()] as const),
  )
  return Math.max(...spans.map(([start]) => spans.filter(([from, to]) => from <= start && start < to).length))
}

describe("the steps of a run", () => {
  it("use limited resources fully and not beyond, over all runs together", async () => {
    const lab = makeLab()
    const ranges = await Promise.all([createRange(lab, "A", 1), createRange(lab, "B", 2)])
    const process = boot(lab)
    const ends = await Promise.all(ranges.map((range) => startAndWait(process, range)))
    const states = ends.map(({ state }) => state)
    expect(mostAtOnce(states, "clone")).toBe(4)
    expect(mostAtOnce(states, "start")).toBe(8)
    await process.dispose()
  })

  it("finish as early as the plan allows", async () => {
    const lab = makeLab(Array.from({ length: 30 }, (_, i) => `vm${i}`))
    const range = await createRange(lab)
    const process = boot(lab)
    const { head, state } = await startAndWait(process, range)
    const seconds = (state.endedAt!.getTime() - head.startedAt.getTime()) / 1000
    expect(seconds).toBeLessThanOrEqual(1.02 * simulateSchedule(state.plan!).makespan)
    await process.dispose()
  })

  it("that fail stop what depends on them and nothing else, and say why", async () => {
    const lab = makeLab(["vm1", "vm2"])
    const range = await createRange(lab)
    const process = boot(lab)
    lab.world.fault = ({ action, method }) =>
      method === "settle" && action?.kind === "start" && action.machine.mark.machine === "vm1"
        ? { when: "before", reason: "failed" }
        : undefined
    const { head, state } = await startAndWait(process, range)
    expect(state.status).toBe("failure")
    const phases = (machine: string) =>
      [...state.steps.values()].filter(({ step }) => step.machine === machine).map(({ phase }) => phase)
    expect(phases("vm1")).toEqual(["settled", "settled", "failed", "skipped", "skipped", "skipped"])
    expect(new Set(phases("vm2"))).toEqual(new Set(["settled"]))
    expect(state.message).toBe(
      "1 of 15 steps failed: start:vm1: Cannot settle (hypervisor): the test world was told to fail this call; 3 steps were not run",
    )
    expect(endOf(lab).states).toEqual([["LAB", "ERROR"]])
    expect(renderLog(head, journalOf(lab, head.id))).toMatch(/^fatal: \[vm1\]: FAILED!/mu)
    await process.dispose()
  })

  it("never write a secret of their input into the journal's output", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    const printed: string[] = []
    lab.world.print = (stage, machine, input) => {
      const secrets = Object.entries(input as Record<string, unknown>).flatMap(([key, value]) =>
        key.endsWith("password") ? [String(value)] : [],
      )
      printed.push(...secrets)
      return `${stage} on ${machine} used ${secrets.join(" and ")}`
    }
    const { head } = await startAndWait(process, range)
    const outputs = journalOf(lab, head.id).flatMap(({ event }) => (event.type === "Output" ? [event.text] : []))
    expect(printed.length).toBeGreaterThan(2)
    expect(outputs.some((text) => text.startsWith("primary-dc on LAB-dc01 used *** and"))).toBe(true)
    for (const secret of printed) expect(outputs.filter((text) => text.includes(secret))).toEqual([])
    await process.dispose()
  })

  it("never write terminal control sequences into the log, whatever a machine prints", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    lab.world.print = (stage) => `\u001b]0;owned\u0007${stage} \u202egnp.exe\nplain: é 漢\n`
    const { head } = await startAndWait(process, range)
    const text = renderLog(head, journalOf(lab, head.id))
    expect(text).toContain("\ufffd]0;owned\ufffdprimary-dc \ufffdgnp.exe\nplain: é 漢\n")
    // eslint-disable-next-line no-control-regex -- the test looks for control characters
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u)
    await process.dispose()
  })

  it("are in the journal before their effect", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const unknown: string[] = []
    let dispatched = 0
    /** Called with each action that a port is about to take: the step it belongs to must have been journaled as started. */
    const check = (subject: unknown): void => {
      dispatched += 1
      const { vmid } = (subject as { machine?: { vmid: number } }).machine ?? {}
      const [run] = lab.store.runs.values()
      const started = foldRun(run?.entries ?? []).steps
      const kinds = [...started.values()].filter(({ phase }) => phase === "started").map(({ step }) => step.action)
      if (!kinds.some((action) => !("machine" in action) || action.machine.vmid === vmid)) unknown.push(JSON.stringify(subject))
    }
    const gate = { ...makeCrashGate(), guard: <S extends object>(_: string, service: S): S => watched(service, check) }
    const process = boot(lab, gate)
    expect((await startAndWait(process, range)).state.status).toBe("success")
    expect(dispatched).toBeGreaterThan(30)
    expect(unknown).toEqual([])
    await process.dispose()
  })

  it("keep the history within its setting", async () => {
    const lab = makeLab(["vm1"])
    const range = await createRange(lab)
    const process = boot(lab)
    for (let i = 0; i < 105; i++) await startAndWait(process, range)
    expect(lab.store.runs.size).toBe(100)
    await process.dispose()
  })
})

describe("a hypervisor that becomes unreachable in the middle of a run", () => {
  it("makes the run wait and say so, and the run continues within ten seconds of its return", async () => {
    const lab = makeLab(["vm1", "vm2"])
    const range = await createRange(lab)
    const process = boot(lab)
    let back = 0
    const { state, entries } = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const head = yield* engine.start(rangeRequest(range, deploy), admin)
        yield* Effect.sleep(3000)
        lab.world.fault = () => ({ when: "before", reason: "away" })
        yield* Effect.sleep(3_600_000)
        expect(waitingFor(yield* engine.state(head.id))).toContain("told to fail")
        lab.world.fault = () => undefined
        back = lab.clock.currentTimeMillisUnsafe()
        return { state: yield* engine.wait(head.id), entries: yield* Stream.runCollect(engine.events(head.id, 0)) }
      }),
    )
    expect(state.status).toBe("success")
    const waits = entries.filter(({ event }) => event.type === "Waiting" || event.type === "Continued")
    const keys = waits.flatMap(({ event }) => (event.type === "Waiting" ? [event.key] : []))
    expect(keys.length).toBeGreaterThan(0)
    expect(waits.map(({ event }) => event)).toEqual([
      ...keys.map((key) => ({
        type: "Waiting",
        key,
        reason: expect.stringMatching(/told to fail this call; the run continues when it can be reached, or is aborted$/u),
      })),
      ...keys.map((key) => ({ type: "Continued", key, reason: "the hypervisor answers again" })),
    ])
    expect(waits.at(-1)!.at.getTime() - back).toBeLessThanOrEqual(10_000)
    expect(entries.filter(({ event }) => event.type === "StepFailed")).toEqual([])
    await process.dispose()
  })
})

describe("a step's wait is reported with its cause, and so is its end", () => {
  it.each([
    ["hypervisor", "no-quorum", "the cluster has quorum again", "the cluster has quorum again"],
    ["hypervisor", "unknown-effect", "it can be reached", "the hypervisor answers again"],
    ["guest", "away", "LAB-dc01 can be reached", "LAB-dc01 is retried"],
  ] as const)("when the %s is %s", async (port, reason, until, back) => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    let failed = false
    lab.world.fault = (call) => {
      if (failed || call.port !== port || !call.mutating) return undefined
      if (call.action?.kind === "guest" && call.action.machine.mark.machine !== "LAB-dc01") return undefined
      failed = true
      return { when: "before", reason }
    }
    const { head, state } = await startAndWait(process, range)
    expect(state.status).toBe("success")
    const waits = journalOf(lab, head.id).flatMap(({ event }) =>
      event.type === "Waiting" || event.type === "Continued" ? [event.reason] : [],
    )
    expect(waits).toEqual([expect.stringContaining(`; the run continues when ${until}, or is aborted`), back])
    await process.dispose()
  })
})

/** A port that reports each `dispatch` before it has any effect. */
const watched = <S extends object>(service: S, check: (subject: unknown) => void): S => {
  if (!("dispatch" in service)) return service
  const dispatch = service.dispatch as (subject: unknown) => Effect.Effect<unknown, unknown>
  return {
    ...service,
    dispatch: (subject: unknown) =>
      Effect.suspend(() => {
        check(subject)
        return dispatch(subject)
      }),
  }
}
