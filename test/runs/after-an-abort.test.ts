import { rangeRequest } from "@rangewright/application"
import type { RunRequest } from "@rangewright/application"
import { rangeSubject, type RunEvent, type RunHead } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy, endOf, engineOf, type Lab, makeLab, startAndWait, strays } from "./support/lab.ts"

const names = ["vm1", "vm2"]
const stateOf = (lab: Lab) => [...lab.store.ranges.values()][0]?.state
const eventsOf = (lab: Lab, { id }: Pick<RunHead, "id">) => lab.store.runs.get(id)?.entries.map(({ event }) => event) ?? []

/** A deploy that was aborted while a task of the hypervisor is in flight. */
const aborted = async () => {
  const lab = makeLab(names)
  const range = await createRange(lab)
  const process = boot(lab)
  const first = await engineOf(process, (engine) =>
    Effect.gen(function* () {
      const head = yield* engine.start(rangeRequest(range, deploy), admin)
      yield* Stream.runDrain(Stream.takeUntil(engine.events(head.id, 0), ({ event }) => event.type === "StepDispatched"))
      yield* engine.cancel(head.id, admin)
      return head
    }),
  )
  return { lab, range, process, first }
}

const whole = async () => {
  const lab = makeLab(names)
  const range = await createRange(lab)
  const process = boot(lab)
  await startAndWait(process, range)
  await process.dispose()
  return endOf(lab)
}

describe("while an aborted run settles", () => {
  it("the next deploy is accepted, shows as DEPLOYING, says what it waits for, and begins when the aborted run has ended", async () => {
    const { lab, range, process, first } = await aborted()
    expect(stateOf(lab)).toBe("ABORTED")
    const { head, state } = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const head = yield* engine.start(rangeRequest(range, deploy), admin)
        expect(stateOf(lab)).toBe("DEPLOYING")
        expect(head).toMatchObject({ blockedBy: first.id, plan: undefined })
        expect((yield* engine.state(first.id)).status).toBe("running")
        expect((yield* engine.wait(first.id)).status).toBe("aborted")
        // the end of the aborted run is not shown any more
        expect(stateOf(lab)).toBe("DEPLOYING")
        return { head, state: yield* engine.wait(head.id) }
      }),
    )
    expect(state.status).toBe("success")
    const [waiting, ...later] = eventsOf(lab, head)
    expect(waiting).toMatchObject({ type: "Waiting", behind: first.id, reason: expect.stringContaining("was aborted") })
    expect(later[0]).toMatchObject({ type: "Continued", behind: first.id })
    expect(stateOf(lab)).toBe("SUCCESS")
    expect([endOf(lab), strays(lab)]).toEqual([await whole(), []])
    await process.dispose()
  })

  it.each<RunRequest>([
    { kind: "destroy" },
    { kind: "delete-range", force: true },
    { kind: "power", change: "off", vmids: undefined },
    { kind: "access" },
  ])("$kind is accepted too, and runs in its turn", async (request) => {
    const { lab, range, process, first } = await aborted()
    const { state } = await startAndWait(process, range, request)
    expect(state.status).toBe("success")
    expect(lab.store.runs.get(first.id)?.record.status ?? "gone with its range").toMatch(/^(?:aborted|gone with its range)$/u)
    await process.dispose()
  })

  it("no run overtakes the waiting one, which can be aborted and then ends at once", async () => {
    const { lab, range, process, first } = await aborted()
    await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const second = yield* engine.start(rangeRequest(range, deploy), admin)
        const refused = yield* Effect.flip(engine.start(rangeRequest(range, deploy), admin))
        expect(refused).toMatchObject({ _tag: "RangeBusy", message: expect.stringContaining(second.id) })
        expect(yield* engine.cancel(second.id, admin)).toBe(true)
        expect(stateOf(lab)).toBe("ABORTED")
        // opened behind the second, it waits for the first as well
        const third = yield* engine.start(rangeRequest(range, deploy), admin)
        expect((yield* engine.wait(second.id)).status).toBe("aborted")
        expect((yield* engine.state(first.id)).status).toBe("running")
        expect((yield* engine.state(third.id)).plan).toBeUndefined()
        expect((yield* engine.wait(third.id)).status).toBe("success")
        const endOfFirst = lab.store.runs.get(first.id)?.entries.at(-1)?.at.getTime() ?? Infinity
        const begun = lab.store.runs
          .get(third.id)
          ?.entries.find(({ event }) => event.type === "Planned")
          ?.at.getTime()
        expect(begun).toBeGreaterThanOrEqual(endOfFirst)
      }),
    )
    expect(strays(lab)).toEqual([])
    await process.dispose()
  })

  it("a later run waits for it, even if the run opened behind it has already ended", async () => {
    const { lab, range, process, first } = await aborted()
    await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const second = yield* engine.start(rangeRequest(range, deploy), admin)
        yield* engine.cancel(second.id, admin)
        expect((yield* engine.wait(second.id)).status).toBe("aborted")
        expect((yield* engine.state(first.id)).status).toBe("running")
        const third = yield* engine.start(rangeRequest(range, deploy), admin)
        expect(third).toMatchObject({ blockedBy: first.id, plan: undefined })
        expect((yield* engine.wait(first.id)).status).toBe("aborted")
        expect((yield* engine.wait(third.id)).status).toBe("success")
        expect(eventsOf(lab, third)[0]).toMatchObject({ type: "Waiting", behind: first.id })
      }),
    )
    expect(strays(lab)).toEqual([])
    await process.dispose()
  })

  it("a run that waited itself and was then aborted settles after a restart too, before its successor begins", async () => {
    const { lab, range, process, first } = await aborted()
    const [second, third] = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const second = yield* engine.start(rangeRequest(range, deploy), admin)
        const isBegun = ({ event }: { readonly event: RunEvent }) =>
          event.type === "StepDispatched" && event.key.startsWith("clone:")
        yield* Stream.runDrain(Stream.takeUntil(engine.events(second.id, 0), isBegun))
        yield* engine.cancel(second.id, admin)
        return [second, yield* engine.start(rangeRequest(range, deploy), admin)] as const
      }),
    )
    await process.dispose()
    expect([second.blockedBy, third.blockedBy]).toEqual([first.id, second.id])
    const inFlight = eventsOf(lab, second).flatMap((event) => (event.type === "StepDispatched" ? [event.key] : []))
    const settled = () => eventsOf(lab, second).flatMap((event) => (event.type === "StepSettled" ? [event.key] : []))
    expect(inFlight.filter((key) => !settled().includes(key))).not.toEqual([])
    const next = boot(lab)
    const state = await engineOf(next, (engine) => Effect.andThen(engine.recover, engine.wait(third.id)))
    expect(inFlight.filter((key) => !settled().includes(key))).toEqual([])
    const at = (run: RunHead, type: string) =>
      lab.store.runs
        .get(run.id)
        ?.entries.find(({ event }) => event.type === type)
        ?.at.getTime()
    expect(at(third, "Planned")).toBeGreaterThanOrEqual(at(second, "Ended")!)
    expect([state.status, strays(lab)]).toEqual(["success", []])
    await next.dispose()
  })

  it("it can be resumed, as a run that waits for it", async () => {
    const { range, process, first } = await aborted()
    const state = await engineOf(process, (engine) =>
      Effect.flatMap(engine.resume(first.id, admin), (head) => engine.wait(head.id)),
    )
    expect(state.status).toBe("success")
    const active = await process.runPromise(RunJournal.use((journal) => journal.active(rangeSubject(range.id))))
    expect(active).toBeUndefined()
    await process.dispose()
  })

  it("a death at any write of the waiting or the aborted run loses neither", { timeout: 120_000 }, async () => {
    const end = await whole()
    let died = 0
    for (let at = 1; at < 40; at++) {
      const { lab, range, process, first } = await aborted()
      const second = await engineOf(process, (engine) => engine.start(rangeRequest(range, deploy), admin))
      await process.dispose()
      const gate = makeCrashGate(at)
      const dying = boot(lab, gate)
      await engineOf(dying, (engine) =>
        Effect.andThen(engine.recover, Effect.raceFirst(engine.wait(second.id), gate.died)),
      ).catch(() => undefined)
      await dying.dispose().catch(() => undefined)
      if (gate.dead()) died += 1
      const next = boot(lab)
      await engineOf(next, (engine) => engine.recover)
      const state = await engineOf(next, (engine) => Effect.andThen(engine.wait(first.id), engine.wait(second.id)))
      expect([state.status, stateOf(lab), strays(lab)]).toEqual(["success", "SUCCESS", []])
      expect(endOf(lab)).toEqual(end)
      await next.dispose()
    }
    expect(died).toBeGreaterThan(20)
  })
})
