import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Boot, makeBootTimes } from "../src/hypervisor/boot-times.ts"

const missMs = 3_000

/** Asks one guest, alone, until it answers; when that was, and how often it was asked in vain. */
const bootAlone = (boot: Boot, lasts: number): { readonly seen: number; readonly misses: number } => {
  for (let misses = 0, now = 0; ; misses += 1) {
    now = Math.max(now, boot.next())
    if (now >= lasts) {
      boot.answered(now)
      boot.end()
      return { seen: now, misses }
    }
    boot.missed(now, now + missMs)
    now += missMs
  }
}

describe("boots that teach each other", () => {
  it("are found within half a second of their end, without asking in vain, once some were seen", () => {
    fc.assert(
      fc.property(fc.integer({ min: 4_000, max: 300_000 }), (lasts) => {
        const begin = makeBootTimes()
        for (let n = 0; n < 40; n += 1) bootAlone(begin("l26", n), lasts)
        const { seen, misses } = bootAlone(begin("l26", 41), lasts)
        expect(misses).toBe(0)
        expect(seen - lasts).toBeLessThanOrEqual(500)
      }),
    )
  })

  it("are never asked before they started, and always asked again", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 900_000 }), { minLength: 1, maxLength: 20 }), (durations) => {
        const begin = makeBootTimes()
        for (const [n, lasts] of durations.entries()) {
          const { seen } = bootAlone(begin("l26", n), lasts)
          expect(seen).toBeGreaterThanOrEqual(0)
          expect(Number.isFinite(seen)).toBe(true)
        }
      }),
    )
  })

  it("have one scout: the others wait for what it finds out", () => {
    const begin = makeBootTimes()
    const [scout, second, third] = [begin("win11", 0), begin("win11", 0), begin("win11", 0)]
    expect(scout.next()).toBeLessThan(second.next())
    scout.answered(20_000)
    scout.end()
    // the next to look is the scout now; the last waits for what was enough
    expect(second.next()).toBe(10_000)
    expect(third.next()).toBe(20_000)
  })

  it("of one kind tell nothing about another kind", () => {
    const begin = makeBootTimes()
    bootAlone(begin("l26", 0), 5_000)
    const [scout, other] = [begin("win11", 0), begin("win11", 0)]
    expect([scout.next(), other.next()]).toEqual([3_000, 15_000])
  })

  it("that last longer than any before are still found soon", () => {
    const begin = makeBootTimes()
    for (let n = 0; n < 20; n += 1) bootAlone(begin("l26", n), 10_000)
    expect(bootAlone(begin("l26", 21), 60_000).seen - 60_000).toBeLessThan(17_000)
    expect(bootAlone(begin("l26", 22), 60_000).seen - 60_000).toBeLessThan(17_000)
  })

  it("wait at most twice as long as usual because one boot, or several at once, took far longer", () => {
    const begin = makeBootTimes()
    for (let n = 0; n < 20; n += 1) bootAlone(begin("l26", n), 25_000)
    const together = Array.from({ length: 8 }, () => begin("l26", 21))
    for (const boot of together) boot.missed(boot.next(), boot.next() + missMs)
    for (const boot of together) boot.missed(590_000, 593_000)
    for (const boot of together) boot.answered(600_000)
    for (const boot of together) boot.end()
    expect(bootAlone(begin("l26", 22), 25_000).seen).toBeLessThanOrEqual(52_000)
  })

  it("wait at most four times as long as usual, however many slow boots of somebody else came before", () => {
    const begin = makeBootTimes()
    for (let n = 0; n < 20; n += 1) bootAlone(begin("l26", n), 20_000)
    for (let n = 20; n < 32; n += 1) bootAlone(begin("l26", n), 890_000)
    // nor do those teach that it is too early for others
    expect(bootAlone(begin("l26", 32), 20_000).seen).toBeLessThanOrEqual(60_000)
    for (let n = 33; n < 40; n += 1) bootAlone(begin("l26", n), 20_000)
    expect(bootAlone(begin("l26", 41), 20_000).seen).toBeLessThanOrEqual(21_000)
  })

  it("are found soon again some minutes after slow ones that ended right before they were asked", () => {
    const begin = makeBootTimes()
    for (let n = 0; n < 20; n += 1) bootAlone(begin("l26", n), 20_000)
    for (let n = 20; n < 60; n += 1) {
      const boot = begin("l26", n)
      boot.missed(boot.next(), boot.next() + missMs)
      boot.answered(boot.next())
      boot.end()
    }
    const later = 11 * 60_000
    for (let n = 0; n < 10; n += 1) bootAlone(begin("l26", later + n), 20_000)
    expect(bootAlone(begin("l26", later + 10), 20_000).seen).toBeLessThanOrEqual(21_000)
  })

  it("are asked early again when the first one ever seen took far longer than the rest", () => {
    const begin = makeBootTimes()
    bootAlone(begin("l26", 0), 600_000)
    expect(bootAlone(begin("l26", 1), 25_000).seen).toBeLessThanOrEqual(320_000)
    for (let n = 2; n < 12; n += 1) bootAlone(begin("l26", n), 25_000)
    expect(bootAlone(begin("l26", 12), 25_000).seen).toBeLessThanOrEqual(26_000)
  })
})
