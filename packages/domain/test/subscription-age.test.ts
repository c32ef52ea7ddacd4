import { expect, test } from "vitest"
import { ageProblem, indexAge } from "../src/index.ts"

const now = new Date("2026-06-01T00:00:00Z")
const daysAgo = (days: number) => new Date(now.getTime() - days * 24 * 3600 * 1000)

test("an index is suspicious if it is older than a maintained registry allows", () => {
  for (const days of [-1, 0, indexAge.renewed, indexAge.old - 1]) expect(ageProblem(daysAgo(days), now)).toBeUndefined()
  expect(ageProblem(daysAgo(indexAge.old), now)).toMatch(/60 days ago.*withholding/u)
  expect(indexAge.renewed).toBeLessThan(indexAge.old)
})
