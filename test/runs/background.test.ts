import { activityLayer, makeAutoShutdown, makeObserver, RunPlanner } from "@rangewright/application"
import { communityLicense, licenseLayer, openLicense } from "@rangewright/adapter-memory"
import { installation, isRouter, type RunId, type Vmid } from "@rangewright/domain"
import { Machines, Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
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
  it("keeps what the hypervisor shows, changes by others included", async () => {
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

  it("says since when the hypervisor is away, keeps what was seen, and ends that when it is back", async () => {
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

  it("asks running guests for their address, a silent one less and less often", async () => {
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
    expect(asked).toBeGreaterThan(4)
    expect(asked).toBeLessThan(10)
    await process.dispose()
  })

  it("asks each running guest once which system it runs, again after it was off, and keeps it for readers", async () => {
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

describe("addresses that guests claim and that are not theirs", () => {
  it("are told in plans and drift, also those that an older version kept", async () => {
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
    const note = `${name} reports the addresses 10.3.10.11, 192.0.2.107, 10.70.10.5, which are not its own: they are not used`
    expect(seen.machine?.foreignAddresses).toEqual(["10.3.10.11", "192.0.2.107", "10.70.10.5"])
    expect(seen.plan.notes).toContain(note)
    expect(seen.drift.notes).toContain(note)
    await process.dispose()
  })
})

/** Looks once for idle ranges, after so much time; what the VMs of the lab are then. */
const lookAfter = async (lab: Lab, millis: number, license = openLicense) => {
  const process = boot(lab)
  await process.runPromise(
    Effect.gen(function* () {
      const look = yield* makeAutoShutdown
      yield* Effect.sleep(millis)
      yield* look
      yield* Effect.sleep(hour / 12)
    }).pipe(Effect.provide([activityLayer, licenseLayer(license)])),
  )
  await process.dispose()
  return [...new Set([...lab.world.vms.values()].filter(({ template }) => !template).map(({ power }) => power))]
}

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
  it("shuts a range down that was idle for its time, and not before", async () => {
    expect(await lookAfter(await idleRange("4h"), 3.9 * hour)).toEqual(["running"])
    expect(await lookAfter(await idleRange("4h"), 4.1 * hour)).toEqual(["stopped"])
  })

  it("never touches a range whose time is 0, or that has none where the server has none", async () => {
    expect(await lookAfter(await idleRange("0"), 48 * hour)).toEqual(["running"])
    expect(await lookAfter(await idleRange(undefined), 48 * hour)).toEqual(["running"])
  })

  it("leaves a range alone in which somebody has a session, or that cannot be asked", async () => {
    const busy = await idleRange("1h")
    const [vm] = [...busy.world.vms.values()].filter(({ template }) => !template)
    busy.world.vms.set(vm!.vmid, { ...vm!, sessions: ["jane"] })
    expect(await lookAfter(busy, 2 * hour)).toEqual(["running"])
    const deaf = await idleRange("1h")
    deaf.world.fault = ({ method }) => (method === "sessions" ? { when: "before", reason: "away" } : undefined)
    expect(await lookAfter(deaf, 2 * hour)).toEqual(["running"])
  })

  it("begins nothing while a run changes the whole installation: people may be back when its turn comes", async () => {
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

  it("asks the licence first", async () => {
    expect(await lookAfter(await idleRange("1h"), 2 * hour, communityLicense)).toEqual(["running"])
  })
})
