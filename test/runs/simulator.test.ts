import { describe, expect, it } from "vitest"
import { boot, createRange, startAndWait } from "./support/lab.ts"
import { addZone, makeSimCompany, simEnd } from "./support/sim-lab.ts"

const machines = 6

describe.each([1, 3])("a range on a Proxmox simulator of %d node(s)", (nodes) => {
  it("is deployed, needs nothing the second time, and goes without a trace", { timeout: 60_000 }, async () => {
    const lab = makeSimCompany(nodes)
    if (nodes > 1) await addZone(lab)
    const range = await createRange(lab)
    const process = boot(lab)
    const before = simEnd(lab)
    const first = await startAndWait(process, range)
    expect(first.state.message).toBe("")
    expect(simEnd(lab).vms.map(({ name, power }) => `${String(name)} ${power}`)).toHaveLength(machines)
    expect(simEnd(lab).vnets).toHaveLength(nodes > 1 ? 1 : 0)
    expect(lab.sim.calls.counts().mutating).toBeLessThanOrEqual(5 * machines)

    lab.sim.calls.clear()
    const second = await startAndWait(process, range)
    expect(second.state.plan?.steps).toEqual([])
    expect(lab.sim.calls.counts().mutating).toBe(0)
    expect(lab.sim.calls.counts().reads).toBeLessThanOrEqual(5 + machines)

    await startAndWait(process, range, { kind: "delete-range", force: true })
    expect(simEnd(lab)).toEqual({ ...before, states: [] })
    await process.dispose()
  })
})
