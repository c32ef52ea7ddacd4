import { Activity, activityLayer, makeAutoShutdown, makeObserver, RunPlanner } from "@rangewright/application"
import { communityLicense, licenseLayer, type MemoryVm, openLicense } from "@rangewright/adapter-memory"
import { installation, isRouter, type RangeId, type RunId, type Vmid } from "@rangewright/domain"
import { Hypervisor, Machines, Ranges, RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe, expect, it } from "vitest"
import { skewed } from "./support/skewed-clock.ts"
import { admin, boot, createRange, deploy, type Lab, makeCompany, makeLab, startAndWait } from "./support/lab.ts"

const names = ["vm1", "vm2"]
const hour = 3_600_000

const deployed = async () => {
  const lab = makeLab(names)
  const range = await createRange(lab)
  const process = boot(lab)
  await startAndWait(process, range)
  return { lab, range, process }
}

describe("the observer", () => {
  it("records what the hypervisor shows, including changes by others", async () => {
    const { lab, range, process } = await deployed()
    const [vm] = [...lab.world.vms.values()].filter(({ template }) => !template)
    lab.world.vms.set(vm!.vmid, { ...vm!, power: "stopped", cpus: 7 })
    const seen = await process.runPromise(
      Effect.gen(function* () {
        yield* yield* makeObserver
        return yield* (yield* Machines).ofRange(range.id)
      }),
    )
    expect(seen.find(({ vmid }) => vmid === vm!.vmid)).toMatchObject({ power: "stopped", cpus: 7 })
    await process.dispose()
  })

  it("does not store what it saw before it stood still for longer than any observation takes", async () => {
    const { range, process } = await deployed()
    const stopped = await process.runPromise(
      Effect.gen(function* () {
        const hypervisor = yield* Hypervisor
        const machines = yield* Machines
        const late = Effect.tap(hypervisor.observe, () => Effect.sleep(hour))
        const tick = yield* Effect.provideService(makeObserver, Hypervisor, { ...hypervisor, observe: late })
        const fiber = yield* Effect.forkChild(tick)
        yield* Effect.sleep(hour / 2)
        // another instance works on
        const [one, other] = yield* machines.ofRange(range.id)
        yield* machines.record({ ...one!, power: "stopped" })
        yield* machines.forget(other!.vmid)
        yield* Fiber.join(fiber)
        return yield* machines.ofRange(range.id)
      }),
    )
    expect(stopped.map(({ power }) => power)).toEqual(["stopped"])
    await process.dispose()
  })

  it("says since when the hypervisor is unreachable, keeps the last state, and clears that when it is back", async () => {
    const { lab, range, process } = await deployed()
    const [away, still, kept, back] = await process.runPromise(
      Effect.gen(function* () {
        const machines = yield* Machines
        const tick = yield* makeObserver
        yield* tick
        lab.world.fault = () => ({ when: "before", reason: "away" })
        const since = lab.clock.currentTimeMillisUnsafe()
        yield* tick
        const first = yield* machines.freshness
        expect(first.awaySince?.getTime()).toBe(since)
        yield* Effect.sleep(60_000)
        yield* tick
        const second = yield* machines.freshness
        const rows = yield* machines.ofRange(range.id)
        lab.world.fault = () => undefined
        yield* tick
        return [first, second, rows, yield* machines.freshness] as const
      }),
    )
    expect(still.awaySince).toEqual(away.awaySince)
    expect(still.awayReason).toContain("told to fail")
    expect(kept).toHaveLength(names.length)
    expect(back.awaySince).toBeUndefined()
    await process.dispose()
  })

  it("does not ask for snapshots where nothing can answer: at an offline node, or of a machine in an unknown state", async () => {
    const { lab, process } = await deployed()
    const [one, other] = [...lab.world.vms.values()].filter(({ template }) => !template)
    const offline = "pve9"
    const node = lab.world.nodes.get(one!.node)!
    lab.world.nodes.set(offline, { ...node, name: offline, online: false })
    lab.world.vms.set(one!.vmid, { ...one!, node: offline })
    lab.world.vms.set(other!.vmid, { ...other!, power: "unknown" })
    const asked = () => lab.world.calls.filter(({ method }) => method === "snapshots").length
    const counts = await process.runPromise(
      Effect.gen(function* () {
        const tick = yield* makeObserver
        lab.world.calls.length = 0
        yield* Effect.repeat(tick, { times: 3 })
        const before = asked()
        lab.world.nodes.set(offline, { ...node, name: offline })
        lab.world.vms.set(other!.vmid, { ...other!, power: "stopped" })
        yield* tick
        return [before, asked()]
      }),
    )
    expect(counts).toEqual([0, 2])
    await process.dispose()
  })

  it("reads the snapshots of machines one after another, and shows those that others made", async () => {
    const { lab, range, process } = await deployed()
    const own = [...lab.world.vms.values()].filter(({ template }) => !template)
    for (const vm of own) {
      const byHand = { name: "byhand", description: "x", takenAt: 5, memory: false, incomplete: false, kept: vm }
      lab.world.vms.set(vm.vmid, { ...vm, snapshots: [byHand], parent: "byhand" })
    }
    const [shown, calls] = await process.runPromise(
      Effect.gen(function* () {
        const tick = yield* makeObserver
        yield* tick
        lab.world.calls.length = 0
        for (let i = 0; i < 20; i++) {
          yield* Effect.sleep(10_000)
          yield* tick
        }
        const asked = lab.world.calls.filter(({ method }) => method === "snapshots").length
        return [yield* (yield* Machines).snapshots(range.id), asked] as const
      }),
    )
    expect([...shown.values()].map(({ current }) => current)).toEqual(own.map(() => "byhand"))
    // not again so soon
    expect(calls).toBe(0)
    await process.dispose()
  })

  it("asks running guests for their address, and silent ones less and less often", async () => {
    const { lab, range, process } = await deployed()
    const vmids = [...lab.world.vms.values()].filter(({ template }) => !template).map(({ vmid }) => vmid)
    for (const [vmid, stored] of lab.store.machines) lab.store.machines.set(vmid, { ...stored, address: undefined })
    const [silent, talking] = vmids
    lab.world.vms.set(silent!, { ...lab.world.vms.get(silent!)!, addresses: [] })
    lab.world.vms.set(talking!, { ...lab.world.vms.get(talking!)!, addresses: ["172.17.0.1", "10.7.10.5"] })
    lab.world.calls.length = 0
    const addresses = await process.runPromise(
      Effect.gen(function* () {
        const tick = yield* makeObserver
        yield* Effect.repeat(tick, { times: 63 })
        return new Map((yield* (yield* Machines).ofRange(range.id)).map(({ vmid, address }) => [vmid, address]))
      }),
    )
    expect(addresses.get(talking!)).toBe("10.7.10.5")
    expect(addresses.get(silent!)).toBeUndefined()
    const asked = lab.world.calls.filter(({ method }) => method === "addresses").length
    // the silent one after 1, 2, 4 … ticks, the other one every twelve
    expect(asked).toBeGreaterThan(8)
    expect(asked).toBeLessThan(16)
    await process.dispose()
  })

  it("learns a new address of a running guest, and at once that of one that was off in between", async () => {
    const { lab, process } = await deployed()
    const { vmid } = [...lab.world.vms.values()].find(({ template }) => !template)!
    const change = (changes: Partial<MemoryVm>) =>
      Effect.sync(() => void lab.world.vms.set(vmid, { ...lab.world.vms.get(vmid)!, ...changes }))
    await process.runPromise(
      Effect.gen(function* () {
        const tick = Effect.andThen(yield* makeObserver, Effect.sleep(10_000))
        const shown = Effect.map((yield* Machines).find(vmid), (machine) => machine?.address)
        yield* change({ addresses: ["10.7.10.50"] })
        yield* tick
        expect(yield* shown).toBe("10.7.10.50")
        yield* change({ addresses: ["10.7.10.51"] })
        yield* Effect.repeat(tick, { times: 12 })
        expect(yield* shown).toBe("10.7.10.51")
        yield* change({ power: "stopped" })
        yield* tick
        expect(yield* shown).toBe("10.7.10.51")
        yield* change({ power: "running", addresses: [] })
        yield* tick
        expect(yield* shown).toBe("10.7.10.51")
        yield* change({ power: "stopped" })
        yield* tick
        yield* change({ power: "running", addresses: ["10.7.10.52"] })
        yield* tick
        expect(yield* shown).toBe("10.7.10.52")
        yield* change({ addresses: ["10.3.10.11"] })
        yield* Effect.repeat(tick, { times: 12 })
        expect(yield* shown).toBeUndefined()
        expect((yield* (yield* Machines).find(vmid))?.foreignAddresses).toEqual(["10.3.10.11"])
      }),
    )
    await process.dispose()
  })

  it("learns the addresses of a thousand new guests within two minutes, and then asks a few on each tick", async () => {
    const { lab, process } = await deployed()
    const one = [...lab.world.vms.values()].find(({ template }) => !template)!
    const addressAll = (second: number): void => {
      for (let n = 0; n < 1000; n++) {
        const vmid = (500_000 + n) as Vmid
        const address = `10.7.${second + (n >> 7)}.${1 + (n & 127)}`
        lab.world.vms.set(vmid, { ...one, vmid, name: `VM${n}`, addresses: [address] })
      }
    }
    const shown = (second: number): number =>
      [...lab.store.machines.values()].filter(({ address = "" }) => {
        const third = Number(address.split(".")[2])
        return third >= second && third < second + 8
      }).length
    await process.runPromise(
      Effect.gen(function* () {
        const hypervisor = yield* Hypervisor
        const slow = {
          ...hypervisor,
          addresses: (...guest: Parameters<typeof hypervisor.addresses>) => Effect.delay(hypervisor.addresses(...guest), 70),
        }
        const tick = Effect.andThen(yield* Effect.provideService(makeObserver, Hypervisor, slow), Effect.sleep(10_000))
        const asked = () => lab.world.calls.filter(({ method }) => method === "addresses").length
        yield* tick
        addressAll(20)
        const began = yield* Clock.currentTimeMillis
        while (shown(20) < 1000 && (yield* Clock.currentTimeMillis) - began < 600_000) yield* tick
        expect((yield* Clock.currentTimeMillis) - began).toBeLessThan(120_000)
        lab.world.calls.length = 0
        addressAll(40)
        yield* Effect.repeat(tick, { times: 139 })
        expect(asked()).toBeLessThanOrEqual(140 * 8)
        expect(shown(40)).toBe(1000)
      }),
    )
    await process.dispose()
  })

  it("asks each running guest once for its operating system, again after it was off, and keeps the answer", async () => {
    const { lab, range, process } = await deployed()
    const vmids = [...lab.world.vms.values()].filter(({ template }) => !template).map(({ vmid }) => vmid)
    const [first, silent] = vmids
    const change = (vmid: Vmid, more: object) => lab.world.vms.set(vmid, { ...lab.world.vms.get(vmid)!, ...more })
    change(first!, { system: { id: "rocky" } })
    change(silent!, { system: undefined })
    const asked = () => lab.world.calls.filter(({ method }) => method === "system").length
    const found = await process.runPromise(
      Effect.gen(function* () {
        const tick = yield* makeObserver
        lab.world.calls.length = 0
        yield* Effect.repeat(tick, { times: 62 })
        // the silent one 6 times, less and less often
        expect(asked()).toBeLessThan(9)
        const before = (yield* (yield* Machines).systems(range.id)).get(first!)
        change(first!, { power: "stopped", system: { id: "debian" } })
        yield* tick
        change(first!, { power: "running" })
        yield* tick
        const after = yield* (yield* Machines).systems(range.id)
        expect(after.has(silent!)).toBe(false)
        return [before, after.get(first!)]
      }),
    )
    expect(found).toEqual([{ id: "rocky" }, { id: "debian" }])
    await process.dispose()
  })
})

describe("a machine that the list lacks", () => {
  const withTicks = async <A>(
    use: (lab: Lab, tick: Effect.Effect<void>, vm: Vmid) => Effect.Effect<A, unknown, Machines | RunPlanner | Ranges>,
  ) => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    await startAndWait(process, range)
    const vm = [...lab.world.vms.values()].find(({ name }) => name === "LAB-dc01")!.vmid
    const result = await process.runPromise(
      Effect.gen(function* () {
        const tick = yield* makeObserver
        return yield* use(lab, Effect.andThen(Effect.orDie(tick), Effect.sleep(10_000)), vm)
      }).pipe(Effect.provide(lab.planner)),
    )
    await process.dispose()
    return { lab, range, result }
  }
  const doubtOf = Effect.flatMap(Machines, (machines) => Effect.map(machines.freshness, ({ doubt }) => doubt?.reason))
  const knows = (lab: Lab, vm: Vmid): boolean => [...lab.store.stages.values()].some((stages) => stages.has(vm))
  const planOf = (lab: Lab) =>
    Effect.flatMap(RunPlanner, (planner) =>
      Effect.result(planner.plan([...lab.store.ranges.values()][0]!, deploy, admin, "before opening")),
    )

  it("and that is gone is forgotten after the hypervisor confirmed that twice, and the next deploy creates it again", async () => {
    await withTicks((lab, tick, vm) =>
      Effect.gen(function* () {
        lab.world.vms.delete(vm)
        yield* tick
        expect(knows(lab, vm)).toBe(true)
        expect((yield* (yield* Machines).find(vm))?.missingSince).toBeDefined()
        yield* tick
        expect(knows(lab, vm)).toBe(false)
        expect(yield* (yield* Machines).find(vm)).toBeUndefined()
        expect(yield* doubtOf).toBeUndefined()
      }),
    )
  })

  it("and that was removed just before a deploy is created again by it, stages included", async () => {
    await withTicks((lab, _tick, vm) =>
      Effect.gen(function* () {
        lab.world.vms.delete(vm)
        const plan = yield* planOf(lab)
        expect(plan._tag).toBe("Success")
        if (plan._tag === "Failure") return
        const keys = plan.success.steps.map(({ key }) => key)
        expect(keys).toContain("clone:LAB-dc01")
        expect(keys.some((key) => key.includes("sysprep"))).toBe(true)
        expect(knows(lab, vm)).toBe(false)
      }),
    )
  })

  it("and that exists stays, is reported as missing, and is planned as the machine it is", async () => {
    await withTicks((lab, tick, vm) =>
      Effect.gen(function* () {
        lab.world.listed = (machine) => machine.vmid !== vm
        for (let n = 0; n < 10; n++) yield* tick
        expect(knows(lab, vm)).toBe(true)
        expect(yield* doubtOf).toBe("they lack a machine that exists, or may exist")
        const plan = yield* planOf(lab)
        expect(plan).toMatchObject({ _tag: "Success", success: { steps: [] } })
        lab.world.listed = () => true
        yield* tick
        expect(yield* doubtOf).toBeUndefined()
        expect((yield* (yield* Machines).find(vm))?.missingSince).toBeUndefined()
      }),
    )
  })

  it("while rights are missing is kept as long as that lasts: reads, plans and drift say so", async () => {
    await withTicks((lab, tick, vm) =>
      Effect.gen(function* () {
        const why = "the service's account lacks VM.Audit on /vms"
        lab.world.blindness = why
        lab.world.listed = ({ template }) => template
        lab.world.vms.delete(vm)
        for (let n = 0; n < 10; n++) yield* tick
        expect(knows(lab, vm)).toBe(true)
        expect(yield* doubtOf).toBe(why)
        const plan = yield* planOf(lab)
        expect(plan).toMatchObject({ _tag: "Failure", failure: { _tag: "CannotPlan" } })
        if (plan._tag === "Failure")
          expect(plan.failure.message).toContain(`it is not known whether LAB-dc01 (VM ${vm}) still exists: ${why}`)
        lab.world.listed = () => true
        const drift = yield* Effect.flip(
          Effect.flatMap(RunPlanner, (planner) => planner.drift([...lab.store.ranges.values()][0]!, admin)),
        )
        expect(drift.message).toContain(why)
        lab.world.blindness = undefined
        yield* tick
        yield* tick
        expect(knows(lab, vm)).toBe(false)
        expect(yield* doubtOf).toBeUndefined()
      }),
    )
  })

  it("and that cannot be looked up is in doubt: it is neither forgotten nor removed", async () => {
    const { lab, range } = await withTicks((lab, tick, vm) =>
      Effect.gen(function* () {
        lab.world.listed = (machine) => machine.vmid !== vm
        lab.world.fault = ({ method }) => (method === "seek" ? { when: "before", reason: "forbidden" } : undefined)
        for (let n = 0; n < 5; n++) yield* tick
        expect(knows(lab, vm)).toBe(true)
      }),
    )
    const process = boot(lab)
    const removal = await process.runPromise(
      Effect.flip(Effect.flatMap(RunPlanner, (planner) => planner.plan(range, { kind: "destroy" }, admin, "before opening"))),
    )
    expect(removal.message).toMatch(/remove the VMs of range LAB: it is not known whether LAB-dc01 /u)
    await process.dispose()
  })

  it("takes no call while the list is complete, beside those for the power of the machines of a plan", async () => {
    await withTicks((lab, tick) =>
      Effect.gen(function* () {
        lab.world.calls.length = 0
        for (let n = 0; n < 5; n++) yield* tick
        expect(lab.world.calls.filter(({ method }) => method === "seek")).toEqual([])
        yield* planOf(lab)
        const machines = [...lab.world.vms.values()].filter(({ template }) => !template)
        expect(lab.world.calls.filter(({ method }) => method === "seek")).toHaveLength(machines.length)
        expect(lab.world.calls.filter(({ method }) => method === "blindness")).toEqual([])
      }),
    )
  })

  it("when the list is empty, takes a bounded number of calls on each tick", async () => {
    await withTicks((lab, tick) =>
      Effect.gen(function* () {
        const one = [...lab.world.vms.values()].find(({ template }) => !template)!
        for (let n = 0; n < 1000; n++) {
          const vmid = (500_000 + n) as Vmid
          lab.world.vms.set(vmid, { ...one, vmid, name: `VM${n}`, power: "stopped" })
        }
        yield* tick
        lab.world.listed = () => false
        lab.world.calls.length = 0
        for (let n = 0; n < 5; n++) yield* tick
        const calls = lab.world.calls.filter(({ method }) => method === "seek" || method === "blindness")
        expect(calls.length).toBeLessThanOrEqual(5 * 10)
        expect((yield* (yield* Machines).missing).length).toBeGreaterThan(1000)
      }),
    )
  })
})

describe("addresses that guests report and that are not theirs", () => {
  it("are named in plans and drift, including those that an older version stored", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    await startAndWait(process, range)
    const claimant = [...lab.world.vms.values()].find(
      ({ template, name }) => !template && !isRouter({ name, tags: [] }, range.id),
    )!
    const { vmid, name } = claimant
    lab.store.machines.set(vmid, { ...lab.store.machines.get(vmid)!, address: "10.3.10.11" })
    lab.world.vms.set(vmid, { ...claimant, addresses: ["10.3.10.11", "192.0.2.107", "10.70.10.5"] })
    const seen = await process.runPromise(
      Effect.gen(function* () {
        yield* yield* makeObserver
        const planner = yield* RunPlanner
        return {
          machine: yield* (yield* Machines).find(vmid),
          plan: yield* planner.plan(range, deploy, admin, "preview"),
          drift: yield* planner.drift(range, admin),
        }
      }).pipe(Effect.provide(lab.planner)),
    )
    const note = `${name} reports the addresses 10.3.10.11, 192.0.2.107, 10.70.10.5, which do not belong to it, so they are not used`
    expect(seen.machine?.foreignAddresses).toEqual(["10.3.10.11", "192.0.2.107", "10.70.10.5"])
    expect(seen.plan.notes).toContain(note)
    expect(seen.drift.notes).toContain(note)
    await process.dispose()
  })
})

const powerIn = ({ world }: Lab) => [
  ...new Set([...world.vms.values()].filter(({ template }) => !template).map((vm) => vm.power)),
]

/** Checks after this time, and lets what it begins end. */
const checkedAfter = <A, E, R>(millis: number, check: Effect.Effect<A, E, R>) =>
  Effect.sleep(millis).pipe(Effect.andThen(check), Effect.andThen(Effect.sleep(hour / 12)))

/** Checks once for idle ranges after this time; returns the lab's VMs, and why the range was left on. */
const lookAt = async (lab: Lab, millis: number, license = openLicense) => {
  const process = boot(lab)
  const because = await process.runPromise(
    Effect.gen(function* () {
      const look = yield* makeAutoShutdown
      yield* checkedAfter(millis, look)
      return (yield* Activity).keptOnBecause("LAB" as RangeId)
    }).pipe(Effect.provide([activityLayer, licenseLayer(license)])),
  )
  await process.dispose()
  return { power: powerIn(lab), because }
}
const lookAfter = async (...parameters: Parameters<typeof lookAt>) => (await lookAt(...parameters)).power

const idleRange = async (autoShutdown: string | undefined) => {
  const lab = makeCompany()
  const range = await createRange(lab)
  const process = boot(lab)
  await startAndWait(process, range)
  await process.runPromise(Effect.flatMap(Ranges, (ranges) => ranges.change(range.id, { autoShutdown })))
  await process.dispose()
  return lab
}

describe("auto-shutdown", () => {
  it("shuts down a range that was idle for its configured time, and not before", async () => {
    expect(await lookAfter(await idleRange("4h"), 3.9 * hour)).toEqual(["running"])
    expect(await lookAfter(await idleRange("4h"), 4.1 * hour)).toEqual(["stopped"])
  })

  it("never touches a range whose time is 0, or one without a time if the server has none", async () => {
    expect(await lookAfter(await idleRange("0"), 48 * hour)).toEqual(["running"])
    expect(await lookAfter(await idleRange(undefined), 48 * hour)).toEqual(["running"])
  })

  it("leaves a range alone that has an open session, or whose sessions are unknown", async () => {
    const busy = await idleRange("1h")
    const [vm] = [...busy.world.vms.values()].filter(({ template }) => !template)
    busy.world.vms.set(vm!.vmid, { ...vm!, sessions: ["jane"] })
    const because = `somebody is logged in on ${vm!.name}`
    expect(await lookAt(busy, 2 * hour)).toEqual({ power: ["running"], because })
    busy.world.vms.set(vm!.vmid, { ...busy.world.vms.get(vm!.vmid)!, sessions: [] })
    expect(await lookAt(busy, hour)).toEqual({ power: ["stopped"], because: undefined })
    const deaf = await idleRange("1h")
    deaf.world.fault = ({ method }) => (method === "sessions" ? { when: "before", reason: "away" } : undefined)
    expect(await lookAt(deaf, 2 * hour)).toMatchObject({
      power: ["running"],
      because: expect.stringContaining("cannot be asked whether somebody is logged in"),
    })
  })

  it("leaves a range on for as long as a user requested, and no longer", async () => {
    const lab = await idleRange("1h")
    const process = boot(lab)
    const until = new Date(lab.clock.currentTimeMillisUnsafe() + 3 * hour)
    await process.runPromise(Effect.flatMap(Ranges, (ranges) => ranges.stayOn("LAB" as RangeId, until)))
    await process.dispose()
    expect(await lookAfter(lab, 2 * hour)).toEqual(["running"])
    expect(await lookAfter(lab, 1.1 * hour)).toEqual(["stopped"])
  })

  it("starts nothing while a run changes the whole installation: users may be back when its turn comes", async () => {
    const lab = await idleRange("1h")
    const moving = { id: "move00000000000" as RunId, kind: "move", subject: installation, by: admin, options: null }
    const process = boot(lab)
    await process.runPromise(
      Effect.flatMap(RunJournal, (journal) => journal.open({ ...moving, startedAt: new Date(0) }, undefined)),
    )
    await process.dispose()
    const runs = lab.store.runs.size
    expect(await lookAfter(lab, 2 * hour)).toEqual(["running"])
    expect(lab.store.runs.size).toBe(runs)
  })

  it.each([24, -24])("counts idle time anew when the clock is set %i hours ahead: nobody knows how long it was", async (by) => {
    const lab = await idleRange("4h")
    let ahead = 0
    const process = boot({ ...lab, clock: { ...lab.clock, ...skewed(lab.clock, () => ahead) } })
    const seen = await process.runPromise(
      Effect.gen(function* () {
        const look = yield* makeAutoShutdown
        const after = (millis: number) =>
          Effect.gen(function* () {
            yield* Effect.sleep(millis)
            yield* look
            yield* Effect.sleep(hour / 12)
            return powerIn(lab)
          })
        const before = yield* after(hour)
        ahead = by * 3600
        return [before, yield* after(0), yield* after(3 * hour), yield* after(1.1 * hour)]
      }).pipe(Effect.provide([activityLayer, licenseLayer(openLicense)])),
    )
    expect(seen).toEqual([["running"], ["running"], ["running"], ["stopped"]])
    await process.dispose()
  })

  it("counts idle time from its start when a range was last used later than that: the clock was set back before", async () => {
    const lab = await idleRange("4h")
    const ahead = boot({ ...lab, clock: { ...lab.clock, ...skewed(lab.clock, () => 30 * 24 * 3600) } })
    await ahead.runPromise(
      Effect.gen(function* () {
        const at = new Date(yield* Clock.currentTimeMillis)
        yield* (yield* Ranges).touch(new Map([["LAB" as RangeId, at]]))
      }),
    )
    await ahead.dispose()
    const process = boot(lab)
    const seen = await process.runPromise(
      Effect.gen(function* () {
        const look = yield* makeAutoShutdown
        const after = (millis: number) => checkedAfter(millis, look)
        yield* after(3.8 * hour)
        const before = powerIn(lab)
        yield* after(0.3 * hour)
        return [before, powerIn(lab)]
      }).pipe(Effect.provide([activityLayer, licenseLayer(openLicense)])),
    )
    expect(seen).toEqual([["running"], ["stopped"]])
    await process.dispose()
  })

  it("leaves a range on that is used although a later use is stored: the clock was set back before", async () => {
    const lab = await idleRange("4h")
    const ahead = boot({ ...lab, clock: { ...lab.clock, ...skewed(lab.clock, () => 30 * 24 * 3600) } })
    await ahead.runPromise(
      Effect.gen(function* () {
        const at = new Date(yield* Clock.currentTimeMillis)
        const ranges = yield* Ranges
        yield* ranges.touch(new Map([["LAB" as RangeId, at]]))
        yield* ranges.stayOn("LAB" as RangeId, at)
      }),
    )
    await ahead.dispose()
    const process = boot(lab)
    const seen = await process.runPromise(
      Effect.gen(function* () {
        const look = yield* makeAutoShutdown
        const activity = yield* Activity
        const after = (millis: number) => checkedAfter(millis, look)
        yield* after(0)
        yield* Effect.sleep(3.8 * hour)
        activity.range("LAB" as RangeId, { at: new Date(yield* Clock.currentTimeMillis), by: admin, request: "GET /range" })
        yield* after(2 * hour)
        const used = powerIn(lab)
        yield* after(2.1 * hour)
        return [used, powerIn(lab)]
      }).pipe(Effect.provide([activityLayer, licenseLayer(openLicense)])),
    )
    expect(seen).toEqual([["running"], ["stopped"]])
    await process.dispose()
  })

  it("leaves a range alone that is used while its machines are asked who is logged in", async () => {
    const lab = await idleRange("1h")
    const process = boot(lab)
    const started = await process.runPromise(
      Effect.gen(function* () {
        const activity = yield* Activity
        const hypervisor = yield* Hypervisor
        const journal = yield* RunJournal
        const sessions = () =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            activity.range("LAB" as RangeId, { at: new Date(now), by: admin, request: "GET /range" })
            return []
          })
        const look = yield* Effect.provideService(makeAutoShutdown, Hypervisor, { ...hypervisor, sessions })
        yield* Effect.sleep(2 * hour)
        yield* look
        return (yield* journal.recoverable).length
      }).pipe(Effect.provide([activityLayer, licenseLayer(openLicense)])),
    )
    expect(started).toBe(0)
    await process.dispose()
  })

  it("counts a machine that somebody switched on in Proxmox as used from then on", async () => {
    const lab = await idleRange("4h")
    const process = boot(lab)
    const [vm] = [...lab.world.vms.values()].filter(({ template }) => !template)
    const turned = (power: MemoryVm["power"]) =>
      Effect.sync(() => lab.world.vms.forEach((one) => one.template || lab.world.vms.set(one.vmid, { ...one, power })))
    const seen = await process.runPromise(
      Effect.gen(function* () {
        const look = yield* makeAutoShutdown
        const observe = yield* makeObserver
        const journal = yield* RunJournal
        const started = Effect.gen(function* () {
          yield* observe
          yield* look
          return (yield* journal.recoverable).length
        })
        yield* turned("stopped")
        yield* Effect.sleep(24 * hour)
        const off = yield* started
        lab.world.vms.set(vm!.vmid, { ...vm!, power: "running" })
        const on = yield* started
        yield* Effect.sleep(3.9 * hour)
        const later = yield* started
        yield* Effect.sleep(0.2 * hour)
        return [off, on, later, yield* started]
      }).pipe(Effect.provide([activityLayer, licenseLayer(openLicense)])),
    )
    expect(seen).toEqual([0, 0, 0, 1])
    await process.dispose()
  })

  it("counts a machine as used that somebody switched on in Proxmox while the service was stopped", async () => {
    const lab = await idleRange("4h")
    const [vm] = [...lab.world.vms.values()].filter(({ template }) => !template)
    const before = boot(lab)
    lab.world.vms.forEach((one) => one.template || lab.world.vms.set(one.vmid, { ...one, power: "stopped" }))
    await before.runPromise(
      Effect.gen(function* () {
        yield* Effect.sleep(24 * hour)
        yield* yield* makeObserver
      }),
    )
    await before.dispose()
    lab.world.vms.set(vm!.vmid, { ...vm!, power: "running" })
    const process = boot(lab)
    const seen = await process.runPromise(
      Effect.gen(function* () {
        const look = yield* makeAutoShutdown
        const observe = yield* makeObserver
        const journal = yield* RunJournal
        yield* observe
        yield* look
        const early = (yield* journal.recoverable).length
        yield* Effect.sleep(4.1 * hour)
        yield* look
        return [early, (yield* journal.recoverable).length]
      }).pipe(Effect.provide([activityLayer, licenseLayer(openLicense)])),
    )
    expect(seen).toEqual([0, 1])
    await process.dispose()
  })

  it("waits for uses that another instance has not written yet", async () => {
    const lab = await idleRange("4h")
    const process = boot(lab)
    const started = await process.runPromise(
      Effect.gen(function* () {
        const look = yield* makeAutoShutdown
        const journal = yield* RunJournal
        const [run] = yield* journal.list({ limit: 1 })
        yield* Effect.sleep(run!.endedAt!.getTime() + 4 * hour - (yield* Clock.currentTimeMillis))
        yield* look
        const early = yield* journal.recoverable
        yield* Effect.sleep(30_000)
        yield* look
        return [early.length, (yield* journal.recoverable).length]
      }).pipe(Effect.provide([activityLayer, licenseLayer(openLicense)])),
    )
    expect(started).toEqual([0, 1])
    await process.dispose()
  })

  it("checks the licence first", async () => {
    expect(await lookAfter(await idleRange("1h"), 2 * hour, communityLicense)).toEqual(["running"])
  })
})
