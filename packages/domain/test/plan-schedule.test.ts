import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  bottomLevels,
  criticalPath,
  lowerBound,
  type MachineRef,
  type RangeId,
  priorityOf,
  simulateSchedule,
  simulateSerial,
  type Step,
  type Vmid,
} from "../src/index.ts"
import { labConfig, labWorld } from "./plan-lab.ts"
import { inputFor, planned } from "./plan-model.ts"

const step = (key: string, estimate: number, after: readonly string[] = [], uses: Step["uses"] = []): Step => ({
  key,
  title: key,
  tag: undefined,
  machine: undefined,
  action: { kind: "create-pool", poolId: "X" as RangeId },
  after,
  uses,
  estimate,
})
const ref = (machine: string): MachineRef => ({
  vmid: 200 as Vmid,
  node: "pve1",
  mark: { range: "X" as RangeId, machine },
})
const slot = (resource: string, slots: number): Step["uses"] => [{ resource, slots }]

const anySteps = fc
  .array(fc.record({ seconds: fc.nat(20), before: fc.array(fc.nat(100), { maxLength: 3 }), resource: fc.option(fc.nat(1)) }), {
    maxLength: 15,
  })
  .map((rows) =>
    rows.map(({ seconds, before, resource }, i) =>
      step(
        `${i}`,
        seconds,
        i === 0 ? [] : [...new Set(before.map((b) => `${b % i}`))],
        resource === null ? [] : slot(`r${resource}`, resource + 1),
      ),
    ),
  )

describe("the critical path", () => {
  const steps = [step("a", 3), step("b", 5, ["a"]), step("c", 1, ["a"]), step("d", 2, ["b", "c"])]

  test("is the sum of its steps, and each step's level what is left from it on", () => {
    expect(criticalPath(steps)).toEqual({ seconds: 10, keys: ["a", "b", "d"] })
    expect(Object.fromEntries(bottomLevels(steps))).toEqual({ a: 10, b: 7, c: 3, d: 2 })
    expect(criticalPath([])).toEqual({ seconds: 0, keys: [] })
  })

  test("of a graph with a cycle or an edge to nowhere is a defect", () => {
    expect(() => criticalPath([step("a", 1, ["b"]), step("b", 1, ["a"])])).toThrow("a, b")
    expect(() => criticalPath([step("a", 1, ["ghost"])])).toThrow("a wait")
  })
})

describe("the lower bound", () => {
  test("counts equal jobs in whole rounds", () => {
    expect(lowerBound({ steps: [1, 2, 3, 4, 5].map((n) => step(`${n}`, 4, [], slot("clone", 4))) })).toBe(8)
  })

  test("shares different jobs among the slots, and no job is shorter than itself", () => {
    expect(lowerBound({ steps: [6, 3, 3].map((d, i) => step(`${i}`, d, [], slot("x", 2))) })).toBe(6)
    expect(lowerBound({ steps: [6, 5, 3].map((d, i) => step(`${i}`, d, [], slot("x", 2))) })).toBe(7)
  })

  test("is the critical path when resources are unlimited", () => {
    expect(lowerBound({ steps: [step("a", 3), step("b", 4, ["a"]), step("c", 5)] })).toBe(7)
  })
})

describe("a schedule", () => {
  const check = (steps: readonly Step[]): void => {
    const { starts, makespan } = simulateSchedule({ steps })
    expect(starts.size).toBe(steps.length)
    const end = (s: Step): number => starts.get(s.key)! + s.estimate
    expect(makespan).toBe(Math.max(0, ...steps.map(end)))
    expect(makespan).toBeGreaterThanOrEqual(lowerBound({ steps }))
    for (const s of steps) {
      for (const before of s.after) expect(starts.get(s.key)).toBeGreaterThanOrEqual(end(steps.find((x) => x.key === before)!))
      for (const { resource, slots } of s.uses) {
        const at = starts.get(s.key)!
        const users = steps.filter((x) => x.uses.some((u) => u.resource === resource) && starts.get(x.key)! <= at && end(x) > at)
        expect(users.length).toBeLessThanOrEqual(slots)
      }
    }
  }

  test("starts nothing before what it waits for, and no more than there is room for", () => {
    fc.assert(fc.property(anySteps, check))
  })

  test("of a whole deploy keeps these rules too", () => check(planned(inputFor(labWorld(), labConfig())).steps))

  test("starts first what the rest of the run waits longest for", () => {
    const steps = [step("short", 4, [], slot("x", 1)), step("long", 4, [], slot("x", 1)), step("tail", 100, ["long"])]
    expect(simulateSchedule({ steps }).makespan).toBe(104)
    expect(
      simulateSchedule(
        { steps },
        new Map([
          ["short", 2],
          ["long", 1],
          ["tail", 0],
        ]),
      ).makespan,
    ).toBe(108)
    expect(priorityOf(steps).get("long")).toBeGreaterThan(priorityOf(steps).get("short")!)
  })
})

describe("a serial schedule", () => {
  test("clones one VM after another and waits for each stage everywhere", () => {
    const vm = (name: string): Step[] => [
      { ...step(`clone:${name}`, 4), machine: name },
      { ...step(`start:${name}`, 25, [`clone:${name}`]), machine: name },
      {
        ...step(`address:${name}`, 12, [`start:${name}`]),
        machine: name,
        action: { kind: "guest", machine: ref(name), os: "linux", stage: "address", input: {} },
      },
    ]
    // six hosts are two batches of five at most
    expect(simulateSerial({ steps: ["a", "b", "c", "d", "e", "f"].flatMap(vm) })).toBe(6 * (4 + 25) + 2 * 12)
  })
})
