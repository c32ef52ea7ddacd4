import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { copiesThatFit, nodeUse, type SizedMachine } from "../src/index.ts"

const GiB = 1024
const machine = (gib: number, node?: string): SizedMachine => ({ cpus: 1, memoryMiB: gib * GiB, node })

describe("what a node has left", () => {
  const node = { name: "a", online: true, cpus: 8, cpuLoad: 0, memoryMiB: 64 * GiB, memoryUsedMiB: 20 * GiB }
  const at = (power: "running" | "stopped", gib: number, name = "a") => ({ node: name, power, cpus: 2, memoryMiB: gib * GiB })

  it("counts machines that are off, and what those that are on have not taken yet", () => {
    expect(nodeUse(node, [at("running", 8), at("stopped", 16), at("stopped", 99, "b")])).toEqual({
      machines: 2,
      machinesOn: 1,
      cpus: 4,
      memoryMiB: 24 * GiB,
      freeMemoryMiB: (64 - 20 - 16) * GiB,
    })
    expect(nodeUse(node, [at("running", 40), at("stopped", 30)])).toMatchObject({ freeMemoryMiB: -6 * GiB })
  })
})

describe("how many ranges fit", () => {
  const free = new Map([
    ["a", 10 * GiB],
    ["b", 6 * GiB],
  ])
  it.each([
    ["one machine", [machine(4)], 3],
    ["machines that must stand apart", [machine(3, "a"), machine(3, "b")], 2],
    ["a machine that is larger than any node", [machine(11)], 0],
    ["a node that is not there", [machine(1, "c")], 0],
    ["more than there may be", [machine(1)], 7],
  ])("of %s", (_what, machines, fit) => {
    expect(copiesThatFit(free, machines, 7)).toBe(fit)
  })

  it("never more than the memory that is left", () => {
    const gibs = fc.integer({ min: 1, max: 16 })
    fc.assert(
      fc.property(
        fc.array(gibs, { minLength: 1, maxLength: 4 }),
        fc.array(gibs, { minLength: 1, maxLength: 5 }),
        (nodes, sizes) => {
          const room = new Map(nodes.map((gib, at) => [`n${at}`, gib * GiB]))
          const machines = sizes.map((gib) => machine(gib))
          const fit = copiesThatFit(room, machines, 50)
          const sum = (all: readonly number[]) => all.reduce((a, b) => a + b, 0)
          expect(fit * sum(sizes)).toBeLessThanOrEqual(sum(nodes))
        },
      ),
    )
  })
})
