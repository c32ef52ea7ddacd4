import { rangeRequest } from "@rangewright/application"
import type { MemoryCall, MemoryFailure } from "@rangewright/adapter-memory"
import { RunEngine } from "@rangewright/run-engine"
import type { HypervisorReason } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy, endOf, type Lab, makeLab, startAndWait, strays } from "./support/lab.ts"

const names = ["vm1", "vm2"]

interface Sweep {
  readonly total: number
  readonly stopped: number
  readonly broken: readonly unknown[]
}

/** The hypervisor calls of an undisturbed deploy. */
const callsOf = async (): Promise<{ readonly calls: readonly MemoryCall[]; readonly end: ReturnType<typeof endOf> }> => {
  const lab = makeLab(names)
  const range = await createRange(lab)
  const process = boot(lab)
  await startAndWait(process, range)
  await process.dispose()
  return { calls: lab.world.calls, end: endOf(lab) }
}

/** Deploys with one failing call, and resumes a run that stops. `stopReason` is the message of the run that stopped. */
const deployWith = async (lab: Lab, nth: number, failure: MemoryFailure) => {
  const range = await createRange(lab)
  lab.world.calls.length = 0
  lab.world.fault = (_call, at) => (at === nth ? failure : undefined)
  const process = boot(lab)
  const result = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const head = yield* Effect.result(engine.start(rangeRequest(range, deploy), admin))
      if (head._tag === "Failure") {
        const again = yield* engine.start(rangeRequest(range, deploy), admin)
        return { stopped: head.failure.message, last: yield* engine.wait(again.id) }
      }
      const first = yield* engine.wait(head.success.id)
      if (first.status === "success") return { stopped: undefined, last: first }
      const resumed = yield* engine.resume(head.success.id, admin)
      return { stopped: first.message, last: yield* engine.wait(resumed.id) }
    }),
  )
  await process.dispose()
  return result
}

const sweep = async (reason: HypervisorReason, when: "before" | "after"): Promise<Sweep> => {
  const { calls, end } = await callsOf()
  const broken: unknown[] = []
  let stopped = 0
  for (let nth = 1; nth <= calls.length; nth++) {
    const lab = makeLab(names)
    const result = await deployWith(lab, nth, { reason, when })
    if (result.stopped !== undefined) stopped += 1
    const call = calls[nth - 1]
    try {
      expect(result.last.message).toBe("")
      // a replaced VMID differs, and so does its DHCP address; everything else is as undisturbed
      expect(endOf(lab)).toEqual(end)
      expect(strays(lab)).toEqual([])
      if (result.stopped !== undefined) expect(result.stopped).toContain("told to fail")
    } catch (error) {
      broken.push({ nth, call: `${call?.port}.${call?.method} ${call?.action?.kind}`, error: String(error).slice(0, 600) })
    }
  }
  return { total: calls.length, stopped, broken }
}

const waited: readonly HypervisorReason[] = ["away", "no-quorum"]
const final: readonly HypervisorReason[] = ["not-found", "invalid", "not-ours", "exhausted", "failed"]

describe("one failing call of the hypervisor, whichever it is", () => {
  it.each(waited)(
    "%s: the run waits and resumes automatically, even if the call had its effect",
    { timeout: 60_000 },
    async (reason) => {
      for (const when of ["before", "after"] as const) {
        const { broken, stopped } = await sweep(reason, when)
        expect(broken).toEqual([])
        // only a call made before the run begins fails the request
        expect(stopped).toBeLessThanOrEqual(1)
      }
    },
  )

  it.each(["before", "after"] as const)(
    "an answer lost %s the effect is settled by observation",
    { timeout: 60_000 },
    async (when) => {
      const { broken, stopped } = await sweep("unknown-effect", when)
      expect(broken).toEqual([])
      expect(stopped).toBeLessThanOrEqual(1)
    },
  )

  it("locked: the step is retried", { timeout: 60_000 }, async () => {
    const { broken, stopped } = await sweep("locked", "before")
    expect(broken).toEqual([])
    expect(stopped).toBeLessThanOrEqual(1 + names.length)
  })

  it.each(["unauthenticated", "forbidden"] as const)(
    "%s once: the step is retried, since a node's cluster file system may be restarting",
    { timeout: 60_000 },
    async (reason) => {
      const { calls } = await callsOf()
      const { broken, stopped } = await sweep(reason, "before")
      expect(broken).toEqual([])
      // a call made before the run begins fails the request, and the effect of stages inside machines is unknown
      expect(stopped).toBeLessThanOrEqual(1 + calls.filter(({ port }) => port === "guest").length)
    },
  )

  it.each(final)("%s: the run stops with the exact reason, and resuming it converges", { timeout: 60_000 }, async (reason) => {
    for (const when of ["before", "after"] as const) {
      const { broken, stopped, total } = await sweep(reason, when)
      expect(broken).toEqual([])
      expect(stopped).toBe(total)
    }
  })
})

describe("a VMID that somebody else took", () => {
  it("is replaced in every later step of the machine", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const taken: number[] = []
    lab.world.fault = ({ action, method }) => {
      if (method !== "dispatch" || action?.kind !== "clone" || taken.length > 0) return undefined
      taken.push(action.machine.vmid)
      return { when: "before", reason: "taken" }
    }
    const process = boot(lab)
    const { state } = await startAndWait(process, range)
    await process.dispose()
    expect(state.status).toBe("success")
    expect([...state.reallocated.keys()]).toHaveLength(1)
    expect([...lab.world.vms.keys()]).not.toContain(taken[0])
    expect(strays(lab)).toEqual([])
    const [vmid] = state.reallocated.values()
    expect(lab.world.vms.get(vmid!)?.nics[0]?.mac).toBe(
      `02:00:00:${[vmid! >> 8, vmid! & 255].map((b) => b.toString(16).padStart(2, "0").toUpperCase()).join(":")}:00`,
    )
  })
})

describe("VMIDs that are all taken", () => {
  it("fail the machine that needs one, with the reason, and no other", async () => {
    const lab = makeLab(names)
    const range = await createRange(lab)
    const narrow = { ...lab, settings: { ...lab.settings, vmidSpan: { from: 20_000, to: 20_001 } } }
    lab.world.fault = ({ method, action }) =>
      method === "dispatch" && action?.kind === "clone" && action.machine.mark.machine === "vm1"
        ? { when: "before", reason: "taken" }
        : undefined
    const process = boot(narrow)
    const { state } = await startAndWait(process, range)
    await process.dispose()
    expect(state.status).toBe("failure")
    expect(state.steps.get("clone:vm1")?.failure?.kind).toBe("exhausted")
    expect(state.steps.get("role:vm2")?.phase).toBe("settled")
  })
})

describe("every step dispatched twice", () => {
  it.each([deploy, { kind: "destroy" }, { kind: "delete-range", force: true }] as const)(
    "has one effect: %o",
    async (request) => {
      const twice = { ...makeCrashGate(), guard: <S extends object>(_: string, service: S): S => doubled(service) }
      const ends = []
      for (const gate of [makeCrashGate(), twice]) {
        const lab = makeLab(names)
        const range = await createRange(lab)
        const before = boot(lab)
        if (request.kind !== "deploy") await startAndWait(before, range)
        await before.dispose()
        const process = boot(lab, gate)
        expect((await startAndWait(process, range, request)).state.message).toBe("")
        await process.dispose()
        ends.push(endOf(lab))
      }
      expect(ends[1]).toEqual(ends[0])
    },
  )
})

/** A port that sends each `dispatch`, and each change of pools and rights, twice. */
const doubled = <S extends object>(service: S): S =>
  Object.fromEntries(
    Object.entries(service).map(([method, member]: [string, unknown]) => {
      if (typeof member !== "function" || !["dispatch", "ensurePool", "removePool", "grant"].includes(method))
        return [method, member]
      const call = member as (...args: readonly unknown[]) => Effect.Effect<unknown, unknown>
      return [method, (...args: readonly unknown[]) => Effect.andThen(call(...args), call(...args))]
    }),
  ) as S
