import {
  type Amounts,
  type CountedRange,
  effectiveLimits,
  eachResource,
  type GroupName,
  noAmounts,
  payerOf,
  type QuotaFacts,
  quotaExcess,
  quotaReport,
  quotaResources,
  type RangeId,
  refusedDeploy,
  refusedRange,
  type UserId,
  useOf,
} from "@rangewright/domain"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const ada = "Ada" as UserId
const bob = "Bob" as UserId
const machine = (name: string, cpus = 2, memoryMiB = 4096) => ({ name, cpus, memoryMiB })
const range = (id: string, over: Partial<CountedRange> = {}): CountedRange => ({
  id: id as RangeId,
  payer: ada,
  machines: [],
  coming: [],
  ...over,
})
const factsOf = (ranges: readonly CountedRange[], own: Amounts = noAmounts): QuotaFacts => ({
  ofUsers: new Map([[ada, own]]),
  ofGroups: new Map(),
  groupsOf: () => [],
  ranges,
})
const text = (...machines: readonly string[]): string =>
  machines
    .map(
      (name, i) =>
        `  - {vm_name: "${name}", hostname: h${i}, template: t, vlan: 10, ip_last_octet: ${11 + i}, ram_gb: 4, cpus: 2, linux: true}\n`,
    )
    .join("")
const config = (...machines: readonly string[]): string => `ludus:\n${text(...machines)}`

describe("limits", () => {
  it("are the user's own, else the highest of the groups, else the system's", () => {
    const { limits, sources } = effectiveLimits(
      { ...noAmounts, ram: 8 },
      [
        { ...noAmounts, ram: 64, cpus: 4 },
        { ...noAmounts, cpus: 16 },
      ],
      { ...noAmounts, ram: 32, cpus: 2, vms: 5 },
    )
    expect(limits).toEqual({ ram: 8, cpus: 16, vms: 5, ranges: 0 })
    expect(sources).toEqual({ ram: "U", cpus: "G", vms: "S", ranges: "" })
  })

  const amounts = fc.record({ ram: fc.nat(20), cpus: fc.nat(20), vms: fc.nat(20), ranges: fc.nat(20) })

  it("do not depend on the order of the groups", () => {
    fc.assert(
      fc.property(amounts, fc.array(amounts, { maxLength: 5 }), amounts, (own, groups, system) => {
        expect(effectiveLimits(own, groups.toReversed(), system)).toEqual(effectiveLimits(own, groups, system))
      }),
    )
  })

  it("that are raised refuse nothing that they allowed, and what takes no more than before is never refused", () => {
    fc.assert(
      fc.property(amounts, amounts, amounts, fc.constantFrom(...quotaResources), (limits, now, then, raised) => {
        const higher = { ...limits, [raised]: limits[raised] === 0 ? 0 : limits[raised] + 1 }
        if (quotaExcess(limits, now, then).length === 0) expect(quotaExcess(higher, now, then)).toEqual([])
        const shrunk = eachResource((one) => Math.min(now[one], then[one]))
        expect(quotaExcess(limits, now, shrunk)).toEqual([])
      }),
    )
  })
})

describe("use", () => {
  it("counts a machine that exists and is being deployed once, with the larger sizes, and rounds memory up at the end", () => {
    const ranges = [
      range("A", {
        machines: [machine("a", 2, 1000), machine("old", 1, 1000)],
        coming: [machine("a", 1, 2000), machine("b", 4, 100)],
      }),
      range("B", { machines: [machine("a", 8, 24)] }),
    ]
    expect(useOf(ranges)).toEqual({ ram: 4, cpus: 15, vms: 4, ranges: 2 })
  })

  it("is charged to the user for whom the range was created, and to nobody else by sharing it", () => {
    const users = [
      { id: ada, number: 20 },
      { id: bob, number: 3 },
    ]
    expect(payerOf(ada, users)).toBe(ada)
    expect(payerOf("Gone" as UserId, users)).toBe(bob)
    expect(payerOf(undefined, users)).toBe(bob)
    expect(payerOf(ada, [])).toBeUndefined()
  })
})

describe("a deploy", () => {
  const limits = { ram: 10, cpus: 8, vms: 3, ranges: 2 }

  it("is refused with every limit that it would exceed", () => {
    const facts = factsOf([range("A"), range("B", { machines: [machine("x", 4)] })], limits)
    expect(refusedDeploy(facts, "A" as RangeId, config("a", "b", "c"), noAmounts)?.message).toBe(
      "Cannot deploy range A: the quota of Ada does not allow it: RAM: limit 10 GiB, in use 4 GiB, requested 12 GiB more, 16 GiB in all; " +
        "CPUs: limit 8, in use 4, requested 6 more, 10 in all; VMs: limit 3, in use 1, requested 3 more, 4 in all",
    )
    expect(refusedDeploy(facts, "A" as RangeId, config("a"), noAmounts)).toBeUndefined()
  })

  it("may repeat or shrink a range even above the limit, and is free if nobody is charged", () => {
    const there = [machine("a"), machine("b"), machine("c"), machine("d")]
    const facts = factsOf([range("A", { machines: there }), range("C", { payer: undefined })], limits)
    expect(refusedDeploy(facts, "A" as RangeId, config("a", "b", "c", "d"), noAmounts)).toBeUndefined()
    expect(refusedDeploy(facts, "A" as RangeId, config("e"), noAmounts)?.message).toContain("5 in all")
    expect(refusedDeploy(facts, "C" as RangeId, config("a", "b", "c", "d"), noAmounts)).toBeUndefined()
  })

  it("is limited by the user's groups and the system", () => {
    const facts: QuotaFacts = {
      ...factsOf([range("A")]),
      ofGroups: new Map([["red" as GroupName, { ...noAmounts, vms: 1 }]]),
      groupsOf: () => ["red" as GroupName],
    }
    expect(refusedDeploy(facts, "A" as RangeId, config("a", "b"), { ...noAmounts, cpus: 3 })?.facts.excess).toHaveLength(2)
    expect(quotaReport(facts, ada, noAmounts)).toMatchObject({ sources: { vms: "G" }, used: { ranges: 1, vms: 0 } })
  })
})

it("another range is refused if the user has reached the limit", () => {
  const facts = factsOf([range("A"), range("B")], { ...noAmounts, ranges: 2 })
  const one = { id: "C" as RangeId, payer: ada }
  expect(refusedRange(facts, one, noAmounts)?.message).toBe(
    "Cannot create range C: the quota of Ada does not allow it: ranges: limit 2, in use 2, requested 1 more, 3 in all",
  )
  expect(refusedRange(facts, { ...one, payer: bob }, noAmounts)).toBeUndefined()
  expect(refusedRange(facts, { ...one, payer: undefined }, noAmounts)).toBeUndefined()
})
