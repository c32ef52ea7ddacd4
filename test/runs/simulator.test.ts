import { RunPlanner } from "@rangewright/application"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy, startAndWait } from "./support/lab.ts"
import { addZone, applyNetworks, makeSimCompany, simEnd } from "./support/sim-lab.ts"

const machines = 6

describe.each([1, 3])("a range on a Proxmox simulator of %d node(s)", (nodes) => {
  it("is deployed, needs nothing the second time, and is removed without a trace", { timeout: 60_000 }, async () => {
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
    expect(lab.sim.calls.counts().reads).toBeLessThanOrEqual(5 + 2 * machines)

    const preview = () => {
      lab.sim.calls.clear()
      return process.runPromise(RunPlanner.use((planner) => planner.plan(range, deploy, admin, "preview")))
    }
    expect(await preview()).toEqual(second.state.plan)
    // nodes, storages and zones, but not the list of everything
    expect(lab.sim.calls.counts().byRoute).toMatchObject({ "GET /pools": 1, "GET /cluster/resources": 3 })
    if (nodes > 1) {
      const apply = () =>
        process.runPromise(
          Effect.andThen(
            Effect.promise(() => applyNetworks(lab)),
            Effect.sleep("1 minute"),
          ),
        )
      const [vm] = [...lab.sim.state.guests.values()].filter(({ config }) => config["template"] !== 1)
      const fault = lab.sim.faults.add({ kind: "node-down", node: vm!.node })
      await apply()
      lab.sim.faults.remove(fault)
      expect((await preview()).steps.map(({ key }) => key)).toEqual(["network"])
      await apply()
      expect((await preview()).steps).toEqual([])
    }

    await startAndWait(process, range, { kind: "delete-range", force: true })
    expect(simEnd(lab)).toEqual({ ...before, states: [] })
    await process.dispose()
  })
})
