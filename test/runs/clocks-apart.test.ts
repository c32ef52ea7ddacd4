import { rangeRequest } from "@rangewright/application"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { storageLayer } from "@rangewright/adapter-storage"
import { RunEngine } from "@rangewright/run-engine"
import type { RunEvent, RunHead } from "@rangewright/domain"
import { Hypervisor, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { afterAll, describe, expect, it } from "vitest"
import { folderInMemory } from "../support/folder-in-memory.ts"
import { type CrashGate, makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy, endOf, engineOf, type Lab, makeCompany, makeLab, startAndWait } from "./support/lab.ts"
import { skewed } from "./support/skewed-clock.ts"

const hour = 3600
const leaseSeconds = 30
/** As often as a service looks for runs of dead workers. */
const lookEverySeconds = 15

const folder = await folderInMemory()
afterAll(() => rmSync(folder, { recursive: true }))

const companies: readonly (readonly [string, () => Lab])[] = [
  ["memory", makeCompany],
  ["sqlite", () => ({ ...makeCompany(), storage: storageLayer({ file: join(folder, `${Math.random()}.db`) }) })],
]

/** A process with that name on a host whose clock is this many seconds ahead. */
const bootOn = (lab: Lab, owner: string, ahead: () => number, gate?: CrashGate, deployShownSeconds = 0) =>
  boot({ ...lab, clock: { ...lab.clock, ...skewed(lab.clock, ahead) } }, gate, { owner, leaseSeconds, deployShownSeconds })

const journalOf = (lab: Lab, { id }: RunHead) =>
  boot(lab).runPromise(
    RunJournal.use((journal) => Effect.map(journal.read(id, 0), (entries) => entries.map(({ event }) => event))),
  )
const count = (events: readonly RunEvent[], type: RunEvent["type"]) => events.filter((event) => event.type === type).length

/** Looks for runs of dead workers forever, as a service does. */
const looking = Effect.flatMap(RunEngine, ({ recover }) =>
  Effect.forever(Effect.andThen(Effect.ignore(recover), Effect.sleep(lookEverySeconds * 1000))),
)

describe.each(companies)("clocks an hour apart (%s)", (_, company) => {
  it.each([hour, -hour])("runs of a dead process whose clock was %i seconds off are taken over within its lease", async (off) => {
    const lab = company()
    const range = await createRange(lab)
    const gate = makeCrashGate(90)
    const first = bootOn(lab, "first", () => off, gate)
    const head = await engineOf(first, (engine) => Effect.tap(engine.start(rangeRequest(range, deploy), admin), () => gate.died))
    await first.dispose().catch(() => undefined)
    const diedAt = lab.clock.now()
    const second = bootOn(lab, "second", () => 0, undefined, 5)
    const taken = await second.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        yield* Effect.forkChild(looking)
        yield* Stream.runDrain(Stream.takeUntil(engine.events(head.id, 0), ({ event }) => event.type === "Resumed"))
        const taken = lab.clock.now()
        expect((yield* engine.wait(head.id)).status).toBe("success")
        return taken
      }),
    )
    expect((taken - diedAt) / 1000).toBeLessThanOrEqual(leaseSeconds + lookEverySeconds)
    expect(endOf(lab).vms).toHaveLength(6)
    await second.dispose()
  })

  it.each([hour, -hour])("setting the clock %i seconds ahead during a run neither interrupts nor fails it", async (off) => {
    const lab = company()
    const range = await createRange(lab)
    let ahead = 0
    const first = bootOn(lab, "first", () => ahead)
    const second = bootOn(lab, "second", () => 0)
    const other = second.runPromise(Effect.forkDetach(looking))
    const head = await engineOf(first, (engine) =>
      Effect.gen(function* () {
        const started = yield* engine.start(rangeRequest(range, deploy), admin)
        yield* Stream.runDrain(Stream.takeUntil(engine.events(started.id, 0), ({ event }) => event.type === "StepDispatched"))
        ahead = off
        expect((yield* engine.wait(started.id)).status).toBe("success")
        return started
      }),
    )
    const events = await journalOf(lab, head)
    expect([count(events, "Ended"), count(events, "Resumed"), count(events, "StepFailed")]).toEqual([1, 0, 0])
    await second.runPromise(Fiber.interrupt(await other))
    await Promise.all([first.dispose(), second.dispose()])
  })
})

describe("a clock that is set an hour on while an address is awaited", () => {
  it("fails no machine that reports its address a little later", async () => {
    const lab = makeLab(["vm1"])
    const range = await createRange(lab)
    let ahead = 0
    let asked = 0
    const late = Layer.effect(
      Hypervisor,
      Effect.map(Hypervisor, (hypervisor) =>
        Hypervisor.of({
          ...hypervisor,
          addresses: (node, vmid) =>
            Effect.suspend(() => {
              ahead = hour
              return ++asked <= 3 ? Effect.succeed([]) : hypervisor.addresses(node, vmid)
            }),
        }),
      ),
    ).pipe(Layer.provideMerge(lab.hypervisor))
    const process = bootOn({ ...lab, hypervisor: late }, "first", () => ahead)
    const { state } = await startAndWait(process, range)
    expect([state.status, asked]).toEqual(["success", 4])
    await process.dispose()
  })
})

describe("a deploy that was opened by a clock an hour ahead", () => {
  it("shows as DEPLOYING no longer than any other", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const first = bootOn(lab, "first", () => 0)
    await engineOf(first, (engine) =>
      Effect.flatMap(engine.start(rangeRequest(range, deploy), admin), ({ id }) => engine.wait(id)),
    )
    let ahead = hour
    const second = bootOn(lab, "second", () => ahead, undefined, 5)
    const seconds = await engineOf(second, (engine) =>
      Effect.gen(function* () {
        const { id } = yield* engine.start(rangeRequest(range, deploy), admin)
        ahead = 0
        const began = lab.clock.now()
        yield* engine.wait(id)
        return (lab.clock.now() - began) / 1000
      }),
    )
    expect(seconds).toBeCloseTo(5)
    await Promise.all([first.dispose(), second.dispose()])
  })
})
