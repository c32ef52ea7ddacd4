import type { ObservedCluster, ObservedMachine, Plan, RangeId, Step, Vmid } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { makeReservations } from "../src/run/reservations.ts"

const [one, other] = ["ONE" as RangeId, "OTHER" as RangeId]
const hour = 3_600_000

const machineOf = (vmid: number) => ({ vmid: vmid as Vmid, node: "pve2", mark: { range: one, machine: `vm${vmid}` } })
const step = (action: object): Step => ({ key: "k", title: "t", after: [], uses: [], estimate: 0, action }) as unknown as Step
const clone = (vmid: number): Step => step({ kind: "clone", machine: machineOf(vmid) })
const configure = (vmid: number): Step =>
  step({ kind: "configure", machine: machineOf(vmid), settings: { memoryMiB: 1024 * vmid, cpus: vmid } })
const planOf = (...steps: readonly Step[]): Plan => ({ steps }) as unknown as Plan

const cluster = (at = 0, ...running: readonly number[]): ObservedCluster => ({
  at: new Date(at),
  nodes: [],
  storages: [],
  machines: running.map((vmid) => ({ vmid, power: "running" }) as ObservedMachine),
})

describe("reserved capacity", () => {
  it("is what a plan's new machines take, and counts for other ranges only", () => {
    const reservations = makeReservations()
    reservations.reserve(one, planOf(clone(1), configure(1), configure(9)), 0)
    expect(reservations.reservedByOthers(other, cluster())).toMatchObject([{ node: "pve2", memoryMiB: 1024, cpus: 1 }])
    expect(reservations.reservedByOthers(one, cluster())).toEqual([])
  })

  it("is used up for good when the machine runs", () => {
    const reservations = makeReservations()
    reservations.reserve(one, planOf(clone(1), configure(1), clone(2), configure(2)), 0)
    expect(reservations.reservedByOthers(other, cluster(0, 1))).toMatchObject([{ cpus: 2 }])
    expect(reservations.reservedByOthers(other, cluster())).toMatchObject([{ cpus: 2 }])
  })

  it("is replaced by the range's next plan, and lapses after an hour", () => {
    const reservations = makeReservations()
    reservations.reserve(one, planOf(clone(1), configure(1)), 0)
    reservations.reserve(one, planOf(clone(3), configure(3)), 0)
    expect(reservations.reservedByOthers(other, cluster(hour))).toMatchObject([{ cpus: 3 }])
    expect(reservations.reservedByOthers(other, cluster(hour + 1))).toEqual([])
  })

  it("lapses when the clock is set back by more than an hour: nobody knows how old it is", () => {
    const reservations = makeReservations()
    reservations.reserve(one, planOf(clone(1), configure(1)), 100 * hour)
    expect(reservations.reservedByOthers(other, cluster(99 * hour))).toMatchObject([{ cpus: 1 }])
    expect(reservations.reservedByOthers(other, cluster(98 * hour))).toEqual([])
  })
})
