import { type RunRequest, rangeRequest } from "@rangewright/application"
import { type RunState, type Vmid, writeDescription } from "@rangewright/domain"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { goOn, runUntilDeath } from "./support/crash.ts"
import { makeCrashGate } from "./support/crash-gate.ts"
import {
  admin,
  boot,
  createRange,
  deploy,
  endOf,
  engineOf,
  type Lab,
  makeCompany,
  makeLab,
  outlives,
  startAndWait,
} from "./support/lab.ts"
import { cutPower, makeSimCompany, simEnd } from "./support/sim-lab.ts"

const powerOf = ({ world }: Lab, name: string) => [...world.vms.values()].find((vm) => vm.name === name)?.power

const turnOff = ({ world }: Lab, name: string): Vmid => {
  const vm = [...world.vms.values()].find((one) => one.name === name)!
  world.vms.set(vm.vmid, { ...vm, power: "stopped", agentAt: undefined })
  return vm.vmid
}

/** Cuts the power of `vm1` when its role is settled for the first time. */
const cutInRole = (lab: Lab, then: (vmid: Vmid) => void = () => undefined, times = 1): void => {
  let left = times
  lab.world.fault = ({ port, method, action }) => {
    const isRole = port === "guest" && method === "settle" && action?.kind === "guest" && action.stage === "role"
    if (!isRole || action.machine.mark.machine !== "vm1" || left === 0) return undefined
    left -= 1
    then(turnOff(lab, "vm1"))
    return undefined
  }
}

const startsOf = ({ world }: Lab, vmid: Vmid | undefined) =>
  world.calls.filter(({ method, action }) => method === "dispatch" && action?.kind === "start" && action.machine.vmid === vmid)
    .length

const deployed = async (lab: Lab, request: RunRequest = deploy): Promise<RunState> => {
  const range = await createRange(lab)
  const process = boot(lab)
  const { state } = await startAndWait(process, range, request)
  await process.dispose()
  return state
}

describe("a machine that somebody turns off in Proxmox while its range is deployed", () => {
  it(
    "is started again, whenever that happens and whichever it is, and the deploy does all of its work",
    { timeout: 300_000 },
    async () => {
      const calm = makeSimCompany()
      const from = calm.clock.now()
      const { steps } = await deployed(calm)
      const end = simEnd(calm)
      for (const { name } of end.vms) {
        const own = [...steps.values()].filter(({ step }) => step.machine !== undefined && String(name).endsWith(step.machine))
        const first = own.find(({ step }) => step.action.kind === "start")!.endedAt!.getTime()
        const last = Math.max(...own.map(({ endedAt }) => endedAt!.getTime()))
        for (const share of [0.05, 0.6]) {
          const lab = makeSimCompany()
          const range = await createRange(lab)
          const process = boot(lab)
          const at = Math.round(first + share * (last - first) - from)
          lab.clock.schedule(at, () => void cutPower(lab, String(name)))
          const { state } = await startAndWait(process, range)
          await process.dispose()
          expect(state.message, `${String(name)} off at ${at}`).toBe("")
          expect(simEnd(lab), `${String(name)} off at ${at}`).toEqual(end)
        }
      }
    },
  )

  it("is started again while it boots for the first time", { timeout: 60_000 }, async () => {
    const calm = makeSimCompany()
    const from = calm.clock.now()
    const { steps } = await deployed(calm)
    const boots = [...steps.values()].filter(({ step }) => step.action.kind === "start")
    expect(boots.length).toBeGreaterThan(3)
    for (const { step, startedAt, endedAt } of boots) {
      const { name } = simEnd(calm).vms.find((vm) => String(vm.name).endsWith(step.machine!))!
      const lab = makeSimCompany()
      const range = await createRange(lab)
      const process = boot(lab)
      const at = Math.round((startedAt!.getTime() + endedAt!.getTime()) / 2 - from)
      lab.clock.schedule(at, () => void cutPower(lab, String(name)))
      const { state } = await startAndWait(process, range)
      await process.dispose()
      expect([state.message, simEnd(lab)], `${String(name)} off at ${at}`).toEqual(["", simEnd(calm)])
    }
  })

  it(
    "and does not start again fails the deploy at once, with a message that names it and says what to do",
    { timeout: 60_000 },
    async () => {
      const lab = makeLab(["vm1", "vm2"])
      let off: Vmid | undefined
      cutInRole(lab, (vmid) => {
        off = vmid
        const before = lab.world.fault
        lab.world.fault = (call, nth) =>
          call.method === "dispatch" && call.action?.kind === "start" && call.action.machine.vmid === vmid
            ? { when: "before", reason: "failed" }
            : before(call, nth)
      })
      const { status, steps, message } = await deployed(lab)
      expect(status).toBe("failure")
      expect(message).toMatch(/Cannot start VM \d+ \(vm1\) again: it is powered off and does not start: .*told to fail/u)
      expect(steps.get("role:vm1")?.failure?.hint).toMatch(/Proxmox.*deploy again/u)
      expect(steps.get("role:vm1")?.attempt).toBe(1)
      expect(startsOf(lab, off)).toBe(2)
    },
  )

  it("again and again is not started without end; the message says that it is powered off", { timeout: 60_000 }, async () => {
    const lab = makeLab(["vm1", "vm2"])
    let off: Vmid | undefined
    cutInRole(lab, (vmid) => (off = vmid), 1000)
    const { status, message } = await deployed(lab)
    expect(status).toBe("failure")
    expect(message).toContain("Cannot run the stage role on vm1: it is powered off")
    expect(startsOf(lab, off)).toBeLessThanOrEqual(6)
  })

  it("and is the router on the way to the others is started again for them", { timeout: 60_000 }, async () => {
    const lab = makeCompany()
    lab.world.guestsOverNetwork = true
    const isRouter = (name: string) => name.includes("router")
    let cut = false
    lab.world.fault = ({ port, action }) => {
      const router = [...lab.world.vms.values()].find(({ name }) => isRouter(name) && name.startsWith("LAB"))
      if (port !== "guest" || action?.kind !== "guest" || router === undefined || isRouter(action.machine.mark.machine))
        return undefined
      if (!cut) turnOff(lab, router.name)
      cut = true
      return lab.world.vms.get(router.vmid)?.power === "stopped" ? { when: "before", reason: "away" } : undefined
    }
    const { status, message } = await deployed(lab)
    expect([status, message, cut]).toEqual(["success", "", true])
  })

  it("says in the log that it is started again", { timeout: 60_000 }, async () => {
    const lab = makeLab(["vm1"])
    cutInRole(lab)
    expect((await deployed(lab)).status).toBe("success")
    const told = [...lab.store.runs.values()].flatMap(({ entries }) =>
      entries.flatMap(({ event }) => {
        if (event.type === "Output") return [event.text]
        return event.type === "Waiting" || event.type === "Continued" ? [`${event.type}: ${event.reason}`] : []
      }),
    )
    // while it boots, the run waits for nothing else any more
    expect(told.join("\n")).toMatch(
      /^Waiting: .*vm1: it is powered off; the run continues when vm1 can be reached.*\nContinued: .*\nVM \d+ \(vm1\) is powered off; starting it again$/mu,
    )
  })
})

/** The company whose web server has roles, and is unmanaged if wanted; no agent answers in it, but its roles reach it over the network. */
const makeShop = (kind: "managed" | "unmanaged", beforeRole: (lab: Lab, nth: number, vmid: Vmid) => "away" | undefined): Lab => {
  const company = makeCompany()
  const config = company.config.replace(`hostname: "{{ range_id }}-web01"`, (line) =>
    kind === "managed" ? line : `${line}\n    unmanaged: true\n    force_ip: true`,
  )
  expect(config.includes("unmanaged: true")).toBe(kind === "unmanaged")
  const lab = { ...company, config }
  let nth = 0
  lab.world.fault = ({ port, method, action }) => {
    if (action === undefined || !("machine" in action) || action.machine.mark.machine !== "LAB-web01") return undefined
    const { vmid } = action.machine
    const answersAt = (at: number) => {
      const vm = lab.world.vms.get(vmid)
      if (vm?.power === "running") lab.world.vms.set(vmid, { ...vm, agentAt: at })
    }
    if (port === "guest") answersAt(0)
    if (action.kind === "start" && (kind === "unmanaged" || nth > 0)) answersAt(lab.clock.now() + 86_400_000)
    if (action.kind !== "guest" || action.stage !== "role" || method !== "dispatch") return undefined
    nth += 1
    const reason = beforeRole(lab, nth, vmid)
    return reason && { when: "before", reason }
  }
  return lab
}

const shopRole = ({ steps }: RunState) => [...steps.values()].find(({ step }) => step.key === "role:LAB-web01:shop_database")!

const minutesOf = ({ startedAt, endedAt }: ReturnType<typeof shopRole>) => (endedAt!.getTime() - startedAt!.getTime()) / 60_000

const webOf = ({ world }: Lab) => [...world.vms.values()].find(({ name }) => name === "LAB-web01")?.vmid

describe("a machine that is on, and cannot be reached by its roles", () => {
  it("is not waited for when it is unmanaged: the role is retried", { timeout: 60_000 }, async () => {
    const lab = makeShop("unmanaged", (_, nth) => (nth <= 3 ? "away" : undefined))
    const state = await deployed(lab)
    expect([state.status, state.message]).toEqual(["success", ""])
    expect(shopRole(state).attempt).toBe(4)
    expect(minutesOf(shopRole(state))).toBeLessThan(2)
    expect(startsOf(lab, webOf(lab))).toBe(1)
  })

  it("is started again when it is unmanaged and off, and its agent is not waited for", { timeout: 60_000 }, async () => {
    const lab = makeShop("unmanaged", ({ world }, nth, vmid) => {
      if (nth > 1) return undefined
      world.vms.set(vmid, { ...world.vms.get(vmid)!, power: "stopped", agentAt: undefined })
      return "away"
    })
    const state = await deployed(lab)
    expect([state.status, state.message]).toEqual(["success", ""])
    expect(minutesOf(shopRole(state))).toBeLessThan(2)
    expect(startsOf(lab, webOf(lab))).toBe(2)
  })

  it.each(["managed", "unmanaged"] as const)(
    "fails with the role's own fault after the usual retries when it is %s and its agent has stopped",
    { timeout: 60_000 },
    async (kind) => {
      const state = await deployed(makeShop(kind, () => "away"))
      expect(state.status).toBe("failure")
      expect(state.message).toContain("LAB-web01")
      expect(state.message).not.toMatch(/guest agent|start VM/u)
      expect(shopRole(state).attempt).toBe(6)
      expect(minutesOf(shopRole(state))).toBeLessThan(15)
    },
  )

  it("is retried when it is started again and its agent does not answer in time", { timeout: 60_000 }, async () => {
    const lab = makeLab(["vm1"])
    let silent = false
    cutInRole(lab, () => {
      const before = lab.world.fault
      lab.world.fault = (call, nth) => {
        if (silent || call.method !== "settle" || call.action?.kind !== "start" || !call.action.untilAgent)
          return before(call, nth)
        silent = true
        return { when: "before", reason: "failed" }
      }
    })
    const { status, message, steps } = await deployed(lab)
    expect([status, message, silent]).toEqual(["success", "", true])
    expect(steps.get("role:vm1")?.attempt).toBe(3)
  })
})

describe("a machine that must stay off", () => {
  it("an aborted deploy starts none", { timeout: 60_000 }, async () => {
    const lab = makeLab(["vm1"])
    const range = await createRange(lab)
    const process = boot(lab)
    const state = await engineOf(process, (engine) =>
      Effect.gen(function* () {
        const head = yield* engine.start(rangeRequest(range, deploy), admin)
        cutInRole(lab, () => void Effect.runFork(Effect.ignore(engine.cancel(head.id, admin))))
        return yield* engine.wait(head.id)
      }),
    )
    await process.dispose()
    expect(state.status).toBe("aborted")
    expect(powerOf(lab, "vm1")).toBe("stopped")
  })

  it("one that is powered off after the deploy was aborted, at whatever moment of its start", { timeout: 120_000 }, async () => {
    const calm = makeSimCompany()
    const from = calm.clock.now()
    const { steps } = await deployed(calm)
    const role = [...steps.values()].find(({ step }) => step.key.startsWith("role:"))!
    const { name, vmid } = simEnd(calm).vms.find((vm) => String(vm.name).endsWith(role.step.machine!))!
    const at = role.startedAt!.getTime() - from + 1000
    const starts = new Set<number | undefined>()
    // its task, its boot, and the stage after that
    for (const later of [0, 900, 1100, 1500, 2000, 2500, 3000, 4000, 5000, 8000, 15_000, 30_000, 60_000]) {
      const lab = makeSimCompany()
      const range = await createRange(lab)
      const process = boot(lab)
      lab.clock.schedule(at, () => void cutPower(lab, String(name)))
      const { aborted, off } = await process.runPromise(
        Effect.gen(function* () {
          const engine = yield* RunEngine
          const { id } = yield* engine.start(rangeRequest(range, deploy), admin)
          yield* Effect.sleep(at + later - (lab.clock.now() - from))
          yield* engine.cancel(id, admin)
          const next = yield* engine.start(
            rangeRequest(range, { kind: "power", change: "off", vmids: [vmid as Vmid], timeoutSeconds: 60 }),
            admin,
          )
          return { aborted: yield* engine.wait(id), off: yield* engine.wait(next.id) }
        }),
      )
      await process.runPromise(Effect.sleep("10 minutes"))
      await process.dispose()
      starts.add(lab.sim.calls.counts().byRoute["POST /nodes/{node}/qemu/{vmid}/status/start"])
      expect(aborted.status).toBe("aborted")
      expect(off.status, `aborted ${later} ms after`).toBe("success")
      expect(simEnd(lab).vms.find((vm) => vm.name === name)?.power, `aborted ${later} ms after`).toBe("stopped")
    }
    // before the machine is started again, and after
    expect([...starts]).toEqual([6, 7])
  })

  it("a VM that has taken the number of a machine, and is another range's", { timeout: 60_000 }, async () => {
    const lab = makeLab(["vm1"])
    cutInRole(lab, (vmid) => {
      const vm = lab.world.vms.get(vmid)!
      const description = writeDescription({ range: "OTHER" as typeof range, machine: "vm1" }, [])
      lab.world.vms.set(vmid, { ...vm, description })
    })
    const range = "LAB" as Parameters<typeof writeDescription>[0]["range"]
    expect((await deployed(lab)).status).toBe("failure")
    expect(powerOf(lab, "vm1")).toBe("stopped")
  })

  it("one that is off for a run that is no deploy", { timeout: 60_000 }, async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    await startAndWait(process, range)
    const router = [...lab.world.vms.values()].find(({ name }) => name.includes("router"))!
    lab.world.fault = ({ port }) => {
      if (port === "guest" && lab.world.vms.get(router.vmid)?.power === "running") turnOff(lab, router.name)
      return undefined
    }
    const { state } = await startAndWait(process, range, { kind: "testing-start", description: "" })
    await process.dispose()
    expect(state.status).toBe("failure")
    expect(state.message).toContain("it is powered off")
    expect(powerOf(lab, router.name)).toBe("stopped")
  })
})

describe("a process that dies while it starts a machine again", () => {
  it("leaves a run that ends as if nothing had happened, at any moment", { timeout: 240_000 }, async () => {
    const prepared = async () => {
      const lab = makeLab(["vm1"])
      const range = await createRange(lab)
      cutInRole(lab)
      return { lab, range }
    }
    const calm = await prepared()
    const gate = makeCrashGate(undefined, () => outlives(calm.lab))
    const process = boot(calm.lab, gate)
    expect((await startAndWait(process, calm.range)).state.status).toBe("success")
    await process.dispose()
    const end = endOf(calm.lab)
    let crashes = 0
    const broken: unknown[] = []
    for (const at of gate.distinct()) {
      const { lab, range } = await prepared()
      const dying = makeCrashGate(at)
      const acknowledged = await runUntilDeath(lab, range, deploy, dying)
      if (dying.dead()) crashes += 1
      await goOn(lab, range, deploy, acknowledged)
      try {
        expect(endOf(lab)).toEqual(end)
      } catch (error) {
        broken.push({ at, moment: dying.trace.at(-1), error: String(error).slice(0, 800) })
      }
    }
    expect(crashes).toBeGreaterThan(20)
    expect(broken).toEqual([])
  })

  it("on the simulator as well", { timeout: 240_000 }, async () => {
    const calm = makeSimCompany()
    const from = calm.clock.now()
    const { steps } = await deployed(calm)
    const end = simEnd(calm)
    const role = [...steps.values()].find(({ step }) => step.key.startsWith("role:"))!
    const name = String(end.vms.find((vm) => String(vm.name).endsWith(role.step.machine!))!.name)
    const at = role.startedAt!.getTime() - from + 1000
    const prepared = async () => {
      const lab = makeSimCompany()
      const range = await createRange(lab)
      lab.clock.schedule(at, () => void cutPower(lab, name).catch(() => undefined))
      return { lab, range }
    }
    const { lab, range } = await prepared()
    const moments: number[] = []
    const gate = makeCrashGate(undefined, () => {
      moments.push(lab.clock.now() - from)
      return undefined
    })
    const process = boot(lab, gate)
    expect((await startAndWait(process, range)).state.status).toBe("success")
    await process.dispose()
    const after = moments.findIndex((moment) => moment >= at)
    const until = moments.findIndex((moment) => moment >= at + 60_000)
    for (let crashAt = after; crashAt < until; crashAt += Math.ceil((until - after) / 20)) {
      const again = await prepared()
      const dying = makeCrashGate(crashAt)
      const acknowledged = await runUntilDeath(again.lab, again.range, deploy, dying)
      expect(dying.dead()).toBe(true)
      await goOn(again.lab, again.range, deploy, acknowledged)
      expect(simEnd(again.lab), `crashed at ${crashAt}: ${dying.trace.at(-1)}`).toEqual(end)
    }
  })
})
