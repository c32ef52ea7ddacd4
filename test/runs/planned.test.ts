import { RunPlanner } from "@rangewright/application"
import type { MemoryCall } from "@rangewright/adapter-memory"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy, endOf, makeCompany, startAndWait, strays } from "./support/lab.ts"

const machines = 6
const withoutRoles =
  "ludus: [{vm_name: LAB-w, hostname: w, template: debian-12-x64-server-template, vlan: 20, ip_last_octet: 5, ram_gb: 1, cpus: 1, linux: true}]\n"
const count = (calls: readonly MemoryCall[], wanted: (call: MemoryCall) => boolean): number => calls.filter(wanted).length
const mutating = (call: MemoryCall): boolean => call.mutating && call.port !== "guest"
/** Reads that go to the hypervisor; settling waits for a task that a changing call began. */
const reading = (call: MemoryCall): boolean => !call.mutating && call.method !== "settle"

describe("a range that is planned from its configuration", () => {
  it("takes at most five changing calls for each machine; a deploy with nothing to do makes none, and few reads", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    const first = await startAndWait(process, range)
    expect(first.state.message).toBe("")
    expect(endOf(lab).vms).toHaveLength(machines)
    expect(count(lab.world.calls, mutating)).toBeLessThanOrEqual(5 * machines)
    const end = endOf(lab)

    lab.world.calls.length = 0
    const second = await startAndWait(process, range)
    expect(second.state.plan?.steps).toEqual([])
    expect(count(lab.world.calls, (call) => call.mutating)).toBe(0)
    expect(count(lab.world.calls, reading)).toBeLessThanOrEqual(5 + 2 * machines)
    expect(endOf(lab)).toEqual(end)
    await process.dispose()
  })

  it("is previewed without a trace, and the run does what the preview said", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    const before = JSON.stringify([...lab.world.vms.keys(), ...lab.store.reservations.keys(), lab.store.runs.size])
    const preview = await process.runPromise(RunPlanner.use((planner) => planner.plan(range, deploy, admin, "preview")))
    expect(count(lab.world.calls, (call) => call.mutating)).toBe(0)
    expect(JSON.stringify([...lab.world.vms.keys(), ...lab.store.reservations.keys(), lab.store.runs.size])).toBe(before)
    const { state } = await startAndWait(process, range)
    expect(state.plan).toEqual(JSON.parse(JSON.stringify(preview)))
    await process.dispose()
  })

  it("needs only its own machines observed to see that nothing is to be done; changes are planned from the whole cluster", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    await startAndWait(process, range)
    const look = async () => {
      lab.world.calls.length = 0
      const plan = await process.runPromise(RunPlanner.use((planner) => planner.plan(range, deploy, admin, "preview")))
      const drift = await process.runPromise(RunPlanner.use((planner) => planner.drift(range, admin)))
      const looks = (wanted: string) => count(lab.world.calls, ({ port, method }) => port === "hypervisor" && method === wanted)
      return {
        changes: plan.steps.map(({ key }) => key),
        inSync: drift.inSync,
        pool: looks("observePool"),
        cluster: looks("observe"),
        details: looks("detail"),
      }
    }
    expect(await look()).toEqual({ changes: [], inSync: true, pool: 2, cluster: 0, details: 2 * machines })

    const [kali] = [...lab.world.vms.values()].filter(({ name }) => name === "LAB-kali")
    lab.world.vms.set(kali!.vmid, { ...kali!, cpus: kali!.cpus + 1 })
    const changed = await look()
    expect(changed).toMatchObject({ inSync: false, pool: 2, cluster: 2, details: 2 * machines })
    expect(changed.changes).toContain("configure:LAB-kali")

    // somebody took it out of the pool: it still belongs to the range, as the whole list shows
    lab.world.vms.set(kali!.vmid, { ...kali!, pool: undefined })
    const outside = await look()
    expect(outside).toMatchObject({ pool: 2, cluster: 2 })
    expect(outside.changes).not.toContain("clone:LAB-kali")

    lab.world.vms.set(kali!.vmid, kali!)
    lab.world.fault = ({ method }) => (method === "observePool" ? { when: "before", reason: "forbidden" } : undefined)
    expect(await look()).toMatchObject({ changes: [], inSync: true, cluster: 2, details: 2 * machines })
    lab.world.fault = () => undefined

    lab.world.vms.delete(kali!.vmid)
    expect((await look()).changes).toContain("clone:LAB-kali")
    await process.dispose()
  })

  it("is switched off and on, loses one machine, gets it back, and is removed without a trace", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    await startAndWait(process, range)
    const end = endOf(lab)
    const powers = () => [...new Set(endOf(lab).vms.map(({ power }) => power))]

    await startAndWait(process, range, { kind: "power", change: "off", vmids: undefined })
    expect(powers()).toEqual(["stopped"])
    await startAndWait(process, range, { kind: "power", change: "on", vmids: undefined })
    expect(powers()).toEqual(["running"])
    await startAndWait(process, range, { kind: "auto-shutdown" })
    expect(powers()).toEqual(["stopped"])

    const [victim] = [...lab.world.vms.values()].filter(({ name }) => name === "LAB-kali")
    await startAndWait(process, range, { kind: "destroy-vm", vmid: victim!.vmid })
    expect(endOf(lab).vms).toHaveLength(machines - 1)
    expect((await startAndWait(process, range)).state.message).toBe("")
    expect(endOf(lab)).toEqual(end)

    await startAndWait(process, range, { kind: "destroy" })
    expect(endOf(lab)).toMatchObject({ vms: [], states: [["LAB", "DESTROYED"]] })
    await startAndWait(process, range, { kind: "delete-range", force: false })
    expect(endOf(lab)).toEqual({ vms: [], networks: [], pools: [], rights: [], states: [], remembered: {} })
    expect([lab.store.reservations.size, lab.store.runs.size, strays(lab)]).toEqual([0, 0, []])
    await process.dispose()
  })

  it("is refused with every missing template named, and nothing is changed", async () => {
    const lab = makeCompany()
    for (const vmid of [9001, 9003]) lab.world.vms.delete(vmid as never)
    const range = await createRange(lab)
    const process = boot(lab)
    const before = lab.store.ranges.get(range.id)
    const fault = await startAndWait(process, range).then(
      () => undefined,
      (error: unknown) => error as Error & { _tag: string },
    )
    expect(fault?._tag).toBe("CannotPlan")
    expect(fault?.message).toContain("debian-11-x64-server-template")
    expect(fault?.message).toContain("kali-x64-desktop-template")
    expect(lab.store.ranges.get(range.id)).toEqual(before)
    expect(lab.store.runs.size).toBe(0)
    await process.dispose()
  })

  it("is refused while testing mode is on, unless forced", async () => {
    const lab = makeCompany()
    const range = await createRange(lab)
    const process = boot(lab)
    const testing = { mode: "on" as const, allowedDomains: [], allowedIps: [] }
    await process.runPromise(Effect.flatMap(Ranges, (ranges) => ranges.change(range.id, { testing })))
    await expect(startAndWait(process, range)).rejects.toMatchObject({ _tag: "Conflict" })
    const forced = { ...deploy, options: { ...deploy.options, force: true } }
    expect((await startAndWait(process, range, forced)).state.status).toBe("success")
    await process.dispose()
  })

  it("is deployed without reading what is installed if it has no roles", async () => {
    const lab = { ...makeCompany(), config: withoutRoles }
    Object.defineProperty(lab.world, "roles", {
      get: () => {
        throw new Error("there are no roles to look for")
      },
    })
    const range = await createRange(lab)
    const process = boot(lab)
    expect((await startAndWait(process, range)).state.status).toBe("success")
    await process.dispose()
  })

  it("is refused when a named role is not installed", async () => {
    const lab = makeCompany()
    lab.world.roles = new Set(["web_shop", "shop_database"])
    const range = await createRange(lab)
    const process = boot(lab)
    const wish = { ...deploy, options: { ...deploy.options, onlyRoles: ["nosuch"] } }
    await expect(startAndWait(process, range, wish)).rejects.toMatchObject({
      _tag: "InvalidInput",
      message: expect.stringContaining("does not exist on the Ludus server") as string,
    })
    expect((await startAndWait(process, range)).state.status).toBe("success")
    await process.dispose()
  })
})
