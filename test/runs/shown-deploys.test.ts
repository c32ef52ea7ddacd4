import { rangeRequest } from "@rangewright/application"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { makeCrashGate } from "./support/crash-gate.ts"
import { runUntilDeath } from "./support/crash.ts"
import { admin, boot, createRange, deploy, engineOf, makeCompany, startAndWait } from "./support/lab.ts"

const shown = { owner: "service", deployShownSeconds: 5 }

/** A range with nothing to do. */
const settled = async () => {
  const lab = makeCompany()
  const range = await createRange(lab)
  const process = boot(lab)
  await startAndWait(process, range)
  await process.dispose()
  return { lab, range, state: () => lab.store.ranges.get(range.id)?.state }
}

describe("a deploy that ends at once", () => {
  it("shows as DEPLOYING until clients that poll every two seconds have seen it, and then its end", async () => {
    const { lab, range, state } = await settled()
    const process = boot(lab, undefined, shown)
    const seen = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const head = yield* engine.start(rangeRequest(range, deploy), admin)
        const states: unknown[] = []
        for (let at = 0; at < 4; at++) {
          yield* Effect.sleep(2000)
          states.push(state())
        }
        expect((yield* engine.state(head.id)).plan?.steps).toEqual([])
        return states
      }),
    )
    expect(seen).toEqual(["DEPLOYING", "DEPLOYING", "SUCCESS", "SUCCESS"])
    await process.dispose()
  })

  it("does so however it ends, and an abort ends that", async () => {
    const { lab, range, state } = await settled()
    const process = boot(lab, undefined, shown)
    const looks = Effect.andThen(Effect.sleep(4000), Effect.sync(state))
    lab.world.fault = ({ action }) => (action?.kind === "start" ? { when: "before", reason: "forbidden" } : undefined)
    for (const vm of lab.world.vms.values()) if (vm.name === "LAB-kali") lab.world.vms.set(vm.vmid, { ...vm, power: "stopped" })
    await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const failing = yield* engine.start(rangeRequest(range, deploy), admin)
        expect(yield* looks).toBe("DEPLOYING")
        expect((yield* engine.wait(failing.id)).status).toBe("failure")
        expect(state()).toBe("ERROR")
        const aborted = yield* engine.start(rangeRequest(range, deploy), admin)
        yield* Stream.runDrain(Stream.takeUntil(engine.events(aborted.id, 0), ({ event }) => event.type === "StepFailed"))
        const asked = lab.clock.now()
        yield* engine.cancel(aborted.id, admin)
        expect((yield* engine.wait(aborted.id)).status).toBe("aborted")
        expect(lab.clock.now()).toBe(asked)
      }),
    )
    await process.dispose()
  })

  it("is the only one shown longer: not longer deploys, other runs, or deploys where the setting is off", async () => {
    const { lab, range } = await settled()
    const process = boot(lab, undefined, shown)
    const seconds = async (work: () => Promise<unknown>) => {
      const before = lab.clock.now()
      await work()
      return (lab.clock.now() - before) / 1000
    }
    expect(await seconds(() => startAndWait(process, range, { kind: "access" }))).toBeLessThan(5)
    await startAndWait(process, range, { kind: "destroy" })
    const { head } = await startAndWait(process, range)
    const entries = lab.store.runs.get(head.id)?.entries ?? []
    const [settling, end] = [entries.filter(({ event }) => event.type === "StepSettled").at(-1), entries.at(-1)]
    expect(end?.at).toEqual(settling?.at)
    await process.dispose()
    const plain = boot(lab)
    expect(await seconds(() => startAndWait(plain, range))).toBe(0)
    await plain.dispose()
  })

  it("shows its end once and not too early, even after a crash in between", async () => {
    const { lab, range } = await settled()
    const whole = makeCrashGate()
    const counted = boot(lab, whole, shown)
    await startAndWait(counted, range)
    await counted.dispose()
    expect(whole.points()).toBeGreaterThan(10)
    for (let at = 1; at <= whole.points(); at += 3) {
      const head = await runUntilDeath(lab, range, deploy, makeCrashGate(at))
      const process = boot(lab, undefined, shown)
      await engineOf(process, (engine) => engine.recover)
      const run = head ?? [...lab.store.runs.values()].map(({ record }) => record).find(({ status }) => status === "running")
      if (run !== undefined) {
        expect((await engineOf(process, (engine) => engine.wait(run.id))).status).toBe("success")
        const entries = lab.store.runs.get(run.id)?.entries ?? []
        expect(entries.filter(({ event }) => event.type === "Ended")).toHaveLength(1)
      }
      await process.dispose()
    }
    expect(lab.store.ranges.get(range.id)?.state).toBe("SUCCESS")
  })
})
