import type { UserId } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { linuxRange, secondsTogether } from "../../bench/fairness.bench.ts"

const ada = "ADA" as UserId
const bob = "BOB" as UserId
const small = { config: linuxRange(3), by: bob }

/** In virtual time: the same seconds on every machine. */
describe("many concurrent deploys", () => {
  it(
    "of equal ranges end at nearly the same time, except the first, which finds the cluster idle",
    { timeout: 60_000 },
    async () => {
      const [first = 0, ...others] = await secondsTogether(Array.from({ length: 12 }, () => ({ config: linuxRange(3), by: ada })))
      expect(Math.max(...others) / Math.min(...others)).toBeLessThan(1.3)
      expect(first).toBeLessThanOrEqual(Math.max(...others))
    },
  )

  it("take no longer for a small range next to a large one, whoever owns that", { timeout: 60_000 }, async () => {
    const [alone = 0] = await secondsTogether([small])
    for (const by of [ada, bob]) {
      const [large = 0, beside = 0] = await secondsTogether([{ config: linuxRange(20), by }, small])
      expect(large).toBeGreaterThan(beside)
      expect(beside / alone).toBeLessThan(1.2)
    }
  })

  it("take hardly longer for the range of one owner next to twelve of another", { timeout: 60_000 }, async () => {
    const crowd = Array.from({ length: 12 }, () => ({ config: linuxRange(3), by: ada }))
    const [alone = 0] = await secondsTogether([small])
    const [, ...seconds] = await secondsTogether([...crowd, small])
    expect((seconds.at(-1) ?? 0) / alone).toBeLessThan(1.5)
    expect(Math.min(...seconds)).toBe(seconds.at(-1))
  })
})
