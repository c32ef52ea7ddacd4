import { expect, it } from "vitest"
import { sequence } from "./support/sequence.ts"

/** The number of sequences. A full acceptance run has 10000. */
const sequences = Number(process.env["RANGEWRIGHT_MODEL_SEQUENCES"] ?? "300")
const only = process.env["RANGEWRIGHT_MODEL_SEED"]
/** The first seed, for splitting the work between processes. */
const from = Number(process.env["RANGEWRIGHT_MODEL_FROM"] ?? "1")
const mostShown = 5

const replay = (seed: number): string => `RANGEWRIGHT_MODEL_SEED=${seed} npm test -- test/rights/model.test.ts`

it("random changes of access, interrupted anywhere, end as the store says", { timeout: 3_600_000 }, async () => {
  const failures: string[] = []
  const seeds = only === undefined ? Array.from({ length: sequences }, (_, nth) => nth + from) : [Number(only)]
  for (const seed of seeds) {
    const lines: string[] = []
    const problems = await sequence(seed, (line) => lines.push(line))
    if (problems.length === 0) continue
    failures.push(
      [`seed ${seed}; replay it with: ${replay(seed)}`, ...(only === undefined ? [] : lines), ...problems].join("\n  "),
    )
    if (failures.length >= mostShown) break
  }
  expect(failures.join("\n")).toBe("")
})
