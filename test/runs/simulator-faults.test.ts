import { rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import type { Fault } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { goOn, runUntilDeath } from "./support/crash.ts"
import { makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy, startAndWait } from "./support/lab.ts"
import { makeSimCompany, simEnd, type SimLab } from "./support/sim-lab.ts"

const deployUndisturbed = async () => {
  const lab = makeSimCompany()
  const range = await createRange(lab)
  const gate = makeCrashGate()
  const process = boot(lab, gate)
  await startAndWait(process, range)
  await process.dispose()
  return { end: simEnd(lab), points: gate.points(), changes: lab.sim.calls.counts().mutating }
}

let once: ReturnType<typeof deployUndisturbed> | undefined
const undisturbed = () => (once ??= deployUndisturbed())

/** The given count of numbers from 1 to `most`, evenly spread. */
const spread = (most: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, i) => Math.max(1, Math.round(((i + 1) * most) / (count + 1))))

describe("a process that dies while it deploys on the simulator", () => {
  it(
    "leaves a state from which the next one finishes, with no machine duplicated or forgotten",
    { timeout: 300_000 },
    async () => {
      const { end, points } = await undisturbed()
      for (const at of spread(points, 16)) {
        const lab = makeSimCompany()
        const range = await createRange(lab)
        const gate = makeCrashGate(at)
        const acknowledged = await runUntilDeath(lab, range, deploy, gate)
        expect(gate.dead()).toBe(true)
        await goOn(lab, range, deploy, acknowledged)
        expect(simEnd(lab), `crashed at ${at}: ${gate.trace.at(-1)}`).toEqual(end)
      }
    },
  )
})

/** Deploys with a fault in the simulator, and asks again if a run stops or a start is refused. */
const deployDespite = async (lab: SimLab, fault: Fault): Promise<{ stopped: string | undefined; message: string }> => {
  const range = await createRange(lab)
  const process = boot(lab)
  lab.sim.faults.add(fault)
  const result = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const first = yield* Effect.result(
        Effect.flatMap(engine.start(rangeRequest(range, deploy), admin), ({ id }) => engine.wait(id)),
      )
      if (first._tag === "Success" && first.success.status === "success") return { stopped: undefined, message: "" }
      const stopped = first._tag === "Success" ? first.success.message : first.failure.message
      const again = yield* engine.start(rangeRequest(range, deploy), admin)
      return { stopped, message: (yield* engine.wait(again.id)).message }
    }),
  )
  await process.dispose()
  return result
}

const respond = (status: number, message: string) => (nth: number) =>
  ({ kind: "respond", match: { method: "POST", nth }, when: "before", status, message }) as const satisfies Fault
const classes: Readonly<Record<string, (nth: number) => Fault>> = {
  "400": respond(400, "Parameter verification failed."),
  "401": respond(401, "No ticket"),
  "403": respond(403, "Permission check failed"),
  "404": respond(404, "not found"),
  "500 lock": respond(500, "can't lock file '/var/lock/qemu-server/lock-20000.conf' - got timeout"),
  "500": respond(500, "something broke"),
  "595": respond(595, "No route to host"),
  "596": respond(596, "Connection timed out"),
  "reset before the effect": (nth) => ({ kind: "drop", match: { method: "POST", nth }, when: "before" }),
  "reset after the effect": (nth) => ({ kind: "drop", match: { method: "POST", nth }, when: "after" }),
  "garbage after the effect": (nth) => ({ kind: "garbage", match: { method: "POST", nth }, when: "after" }),
  "a task that vanishes, done": (nth) => ({ kind: "vanish-task", nth, when: "after" }),
  "a task that vanishes, not done": (nth) => ({ kind: "vanish-task", nth, when: "before" }),
}

describe("one failing call of the simulator", () => {
  it.each(Object.entries(classes))(
    "%s: the deploy converges, or stops with a reason and converges when requested again",
    { timeout: 120_000 },
    async (_, faultAt) => {
      const { end } = await undisturbed()
      for (const nth of [2, 5, 9, 14]) {
        const lab = makeSimCompany()
        const { stopped, message } = await deployDespite(lab, faultAt(nth))
        expect(message, `call ${nth}, stopped: ${stopped ?? "no"}`).toBe("")
        if (stopped !== undefined) expect(stopped).toMatch(/^Cannot|1 of \d+ steps failed: /u)
        expect(simEnd(lab), `call ${nth}, stopped: ${stopped ?? "no"}`).toEqual(end)
      }
    },
  )
})

describe("some seconds of wrong answers", () => {
  const troubles: Readonly<Record<string, readonly (readonly [number, string])[]>> = {
    "the cluster file system starts anew": [[500, "ipcc_send_rec[1] failed: Connection refused"]],
    "every sentence is unknown": [[500, "something broke"]],
    "the gateway fails in every way": [
      [595, "Connection refused"],
      [596, "Connection timed out"],
      [599, ""],
      [503, ""],
    ],
  }
  it.each(Object.entries(troubles))(
    "%s: a deploy continues as if nothing had happened",
    { timeout: 120_000 },
    async (_, answers) => {
      const { end } = await undisturbed()
      const lab = makeSimCompany()
      const range = await createRange(lab)
      const process = boot(lab)
      for (let n = 1; n <= 40; n++)
        lab.clock.schedule(n * 25_000, () => {
          const [status, message] = answers[n % answers.length]!
          const id = lab.sim.faults.add({
            kind: "respond",
            match: { method: "GET" },
            when: "before",
            status,
            message,
            times: "always",
          })
          lab.clock.schedule(4000, () => lab.sim.faults.remove(id))
        })
      const { state } = await startAndWait(process, range)
      await process.dispose()
      expect(state.message).toBe("")
      expect(simEnd(lab)).toEqual(end)
    },
  )
})

describe("a machine that somebody else has locked", () => {
  const deployWhileLocked = async (minutes: number): Promise<string> => {
    const lab = makeSimCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    await startAndWait(process, range)
    const [guest] = [...lab.sim.state.guests.values()].filter(({ config }) => config["template"] !== 1)
    // it differs from its configuration, and is being moved or backed up
    Object.assign(guest!.config, { cores: 9, lock: "backup" })
    lab.clock.schedule(minutes * 60_000, () => delete guest!.config["lock"])
    const { state } = await startAndWait(process, range)
    await process.dispose()
    return state.message
  }

  it("is waited for some minutes", { timeout: 60_000 }, async () => expect(await deployWhileLocked(4)).toBe(""))

  it("for longer fails the deploy, saying what to do", { timeout: 60_000 }, async () =>
    expect(await deployWhileLocked(60)).toMatch(/1 of \d+ steps failed: .*locked \(backup\)/u),
  )
})
