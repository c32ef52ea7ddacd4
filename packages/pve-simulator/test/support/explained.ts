import { expect } from "vitest"
import type { Difference } from "./recording.ts"

/** Fails for a difference without an explanation, and for an explanation without a difference. */
export const expectExplained = (
  differences: readonly Difference[],
  explained: Readonly<Record<string, readonly number[]>>,
): void => {
  const reasons = new Map(
    Object.entries(explained).flatMap(([reason, numbers]) => numbers.map((n): [number, string] => [n, reason])),
  )
  expect(differences.filter(({ n }) => !reasons.has(n))).toEqual([])
  const different = new Set(differences.map(({ n }) => n))
  expect(
    [...reasons.keys()].filter((n) => !different.has(n)),
    "explanations of exchanges that do not differ",
  ).toEqual([])
}

/** The recorded server had a disk that responds at once, and no status daemon. */
export const instant = {
  linkedClone: 0,
  allocation: 0,
  snapshotTask: 0,
  destroyTask: 0,
  createTask: 0,
  configTask: 0,
  sdnApply: 0,
  networkReload: 0,
  statusInterval: 60_000,
}
