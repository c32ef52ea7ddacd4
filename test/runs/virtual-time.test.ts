import { describe, expect, it } from "vitest"
import { makespanCase } from "../../bench/makespan-generator.ts"
import { deployLab, makeVirtualLab } from "../../bench/virtual-time.ts"

const courseOf = async (seed: number) => {
  const { text, nodes } = makespanCase(seed)
  const lab = await makeVirtualLab({ config: text, nodes, seed })
  const { state, seconds } = await deployLab(lab)
  const steps = [...state.steps].map(([key, { phase, startedAt, endedAt }]) => [key, phase, startedAt, endedAt])
  return { status: state.status, seconds, steps, calls: lab.simulator.calls.recent() }
}

describe("a deploy on virtual time", () => {
  it("is reproducible: every step and every call happens at the same moment", async () => {
    const first = await courseOf(8)
    expect(first.status).toBe("success")
    expect(first.seconds).toBeGreaterThan(60)
    expect(await courseOf(8)).toEqual(first)
  })
})
