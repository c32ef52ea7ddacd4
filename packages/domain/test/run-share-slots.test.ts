import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type RunId, type RunStanding, type SlotDemand, type SlotLedger, shareSlots, type UserId } from "../src/index.ts"

const everybody = () => ({ generation: 1, inForce: true })
const demand = (run: string, waiting: readonly number[], rest: Partial<SlotDemand> = {}): SlotDemand => ({
  run: run as RunId,
  generation: 1,
  by: (run[0] ?? "") as UserId,
  held: 0,
  had: 0,
  waiting,
  ...rest,
})
const many = (count: number, seconds = 10): readonly number[] => Array.from({ length: count }, () => seconds)

/** Plays runs whose steps last as long as they are estimated, in one process: the order in which they got slots, and when each run ended. */
const play = (
  slots: number,
  runs: readonly { readonly id: string; readonly steps: readonly number[]; readonly from?: number }[],
) => {
  const ledgers = new Map<string, SlotLedger>()
  const left = new Map(runs.map(({ id, steps }) => [id, [...steps]]))
  const had = new Map<string, number>()
  let working: { readonly id: string; readonly end: number; readonly seconds: number }[] = []
  const order: string[] = []
  const ends = new Map<string, number>()
  for (let now = 0; ;) {
    const here = runs.filter(({ from = 0 }) => from <= now)
    const demands = here.map(({ id }) => {
      const held = working.filter((step) => step.id === id)
      const seconds = held.reduce((sum, step) => sum + step.seconds, had.get(id) ?? 0)
      return demand(id, left.get(id) ?? [], { held: held.length, had: seconds })
    })
    const [answer] = shareSlots(ledgers, [{ resource: "r", slots, demands }], everybody)
    here.forEach(({ id }, i) => {
      for (const seconds of left.get(id)!.splice(0, answer!.granted[i])) {
        order.push(id)
        working.push({ id, end: now + seconds, seconds })
      }
    })
    const next = Math.min(...working.map(({ end }) => end), ...runs.flatMap(({ from = 0 }) => (from > now ? [from] : [])))
    if (next === Infinity) return { order, ends }
    now = next
    for (const { id, seconds } of working.filter(({ end }) => end === now)) {
      had.set(id, (had.get(id) ?? 0) + seconds)
      ends.set(id, now)
    }
    working = working.filter(({ end }) => end > now)
  }
}
const countOf = (order: readonly string[], id: string): number => order.filter((one) => one.startsWith(id)).length

describe("sharing slots", () => {
  it("gives equal runs equal parts at every moment", () => {
    const { order } = play(
      4,
      Array.from({ length: 10 }, (_, i) => ({ id: `a${i}`, steps: many(6) })),
    )
    for (let n = 20; n <= 60; n += 20)
      expect(new Set(Array.from({ length: 10 }, (_, i) => countOf(order.slice(0, n), `a${i}`)))).toEqual(new Set([n / 10]))
  })

  it("gives an owner with one run as much as one with forty", () => {
    const crowd = Array.from({ length: 40 }, (_, i) => ({ id: `a${i}`, steps: many(5) }))
    const { order } = play(4, [...crowd, { id: "b", steps: many(20) }])
    expect(countOf(order.slice(0, 40), "b")).toBe(20)
  })

  it("counts time and not steps: long steps come less often", () => {
    const { order } = play(1, [
      { id: "a", steps: many(20, 60) },
      { id: "b", steps: many(60, 20) },
    ])
    expect(countOf(order.slice(0, 40), "a")).toBe(10)
  })

  it("lets a run that comes later have its part at once, and no more than that", () => {
    const { order, ends } = play(8, [
      { id: "a", steps: many(100, 25) },
      { id: "b", steps: many(4, 25), from: 60 },
    ])
    // the next four that end make room for it
    expect(ends.get("b")).toBeLessThanOrEqual(60 + 25 + 25)
    expect(order).toHaveLength(104)
    const late = play(1, [
      { id: "a", steps: many(100) },
      { id: "b", steps: many(50), from: 200 },
    ])
    expect(Math.abs(countOf(late.order.slice(20, 60), "b") - 20)).toBeLessThanOrEqual(1)
  })

  it("does not let anybody save up unused time", () => {
    const ledgers = new Map<string, SlotLedger>()
    const ask = (...demands: readonly SlotDemand[]) => shareSlots(ledgers, [{ resource: "r", slots: 1, demands }], everybody)[0]
    // b has one step, then nothing for as long as a has a hundred
    let [hadA, hadB] = [0, 10]
    ask(demand("b", [10]))
    ask(demand("b", [], { had: hadB }))
    for (let i = 0; i < 100; i++, hadA += 10) ask(demand("a", [10], { had: hadA }), demand("b", [], { had: hadB }))
    const got: string[] = []
    for (let i = 0; i < 20; i++) {
      const answer = ask(demand("a", many(9), { had: hadA }), demand("b", many(9), { had: hadB }))
      if (answer?.granted[0] === 1) hadA += 10
      else hadB += 10
      got.push(answer?.granted[0] === 1 ? "a" : "b")
    }
    expect(countOf(got, "b")).toBeLessThanOrEqual(11)
  })

  it("counts the slots of a dead worker until the next worker reports, or the run ends", () => {
    const ledgers = new Map<string, SlotLedger>()
    const standings = new Map<string, RunStanding>(["a", "b"].map((run) => [run, { generation: 1, inForce: true }]))
    const ask = (...demands: readonly SlotDemand[]) =>
      shareSlots(ledgers, [{ resource: "r", slots: 2, demands }], (run) => standings.get(run))[0]
    const answer = (granted: number, again: boolean, counted = true) => ({ granted: [granted], counted: [counted], again })
    expect(ask(demand("a", many(3)))).toEqual(answer(2, false))
    expect(ask(demand("b", many(1)))).toEqual(answer(0, true))
    // its lease runs out: what it had begun may still go on
    standings.set("a", { generation: 1, inForce: false })
    expect(ask(demand("b", many(1)))).toEqual(answer(0, true))
    standings.set("a", { generation: 2, inForce: true })
    expect(ask(demand("b", many(1)))).toEqual(answer(0, true))
    // one of its two goes on
    expect(ask(demand("a", [], { generation: 2, held: 1, had: 10 }))).toEqual(answer(0, true))
    expect(ask(demand("b", many(1)))).toEqual(answer(1, true))
    // the worker of before gets nothing, and has nothing to say any more
    expect(ask(demand("a", many(1)))).toEqual(answer(0, true))
    standings.delete("a")
    expect(ask(demand("b", many(9), { held: 1, had: 10 }))).toEqual(answer(1, false))
  })

  it("does not count a demand while the lease is lapsed, says so, and counts it when the lease is renewed", () => {
    const ledgers = new Map<string, SlotLedger>()
    const standings = new Map<string, RunStanding>(["a", "b"].map((run) => [run, { generation: 1, inForce: true }]))
    const ask = (...demands: readonly SlotDemand[]) =>
      shareSlots(ledgers, [{ resource: "r", slots: 1, demands }], (run) => standings.get(run))[0]
    ask(demand("a", many(1)))
    standings.set("a", { generation: 1, inForce: false })
    const givenBack = demand("a", [], { had: 10 })
    expect(ask(givenBack, demand("b", many(1)))).toMatchObject({ granted: [0, 0], counted: [false, true] })
    standings.set("a", { generation: 1, inForce: true })
    expect(ask(givenBack, demand("b", many(1)))).toMatchObject({ granted: [0, 1], counted: [true, true] })
  })

  it("forgets users who are gone once the others have had as much", () => {
    const ledgers = new Map<string, SlotLedger>()
    for (let i = 0; i < 200; i++) {
      const id = `${i % 2 === 0 ? "a" : "b"}${i}`
      for (const rest of [{ waiting: many(1) }, { held: 1, had: 10 }, { had: 10 }])
        shareSlots(ledgers, [{ resource: "r", slots: 2, demands: [demand(id, [], rest)] }], everybody)
    }
    expect(ledgers.get("r")?.runs.length).toBeLessThan(5)
  })

  it("never grants more slots than there are, and never leaves one free while somebody waits", () => {
    const ask = fc.record({
      run: fc.constantFrom("a1", "a2", "b1", "c1"),
      held: fc.nat(3),
      waiting: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 5 }),
    })
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), (asks, slots) => {
        const ledgers = new Map<string, SlotLedger>()
        for (const { run, held, waiting } of asks) {
          // each run is in a process of its own
          shareSlots(ledgers, [{ resource: "r", slots, demands: [demand(run, waiting, { held })] }], everybody)
          const runs = ledgers.get("r")?.runs ?? []
          const all = runs.reduce((sum, one) => sum + one.held, 0)
          const said = runs.reduce((sum, one) => sum + (one.run === run ? held : 0), 0)
          if (all > slots) expect(runs.find((one) => one.run === run)?.held ?? 0).toBe(said)
          if (all < slots) expect(runs.every((one) => one.waiting.length === 0)).toBe(true)
        }
      }),
    )
  })
})
