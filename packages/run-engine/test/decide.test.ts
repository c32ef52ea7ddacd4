import type { Action, RangeId, Vmid } from "@rangewright/domain"
import { GuestFault, HypervisorFault, type HypervisorReason } from "@rangewright/ports"
import { describe, expect, it } from "vitest"
import { decide } from "../src/retry/decide.ts"

const machine = { vmid: 200 as Vmid, node: "n", mark: { range: "R" as RangeId, machine: "m" } }
const stop: Action = { kind: "stop", machine }
const clone: Action = {
  kind: "clone",
  machine,
  name: "m",
  template: { vmid: 9000 as Vmid, node: "n", name: "t" },
  pool: "R" as RangeId,
  full: false,
  storage: undefined,
  description: "",
}
const fault = (reason: HypervisorReason) => new HypervisorFault({ doing: "x", reason, detail: "y" })
const guestFault = (reason: "away" | "failed" | "timeout" | "unsupported") =>
  new GuestFault({ doing: "x", machine: "m", reason, detail: "y" })

describe("what a fault means for a step", () => {
  const table: readonly (readonly [HypervisorReason, ReturnType<typeof decide>])[] = [
    ["away", "wait"],
    ["no-quorum", "wait"],
    ["unknown-effect", "look"],
    ["locked", "outlast"],
    ["taken", "never"],
    ["unauthenticated", "insist"],
    ["forbidden", "insist"],
    ["not-found", "never"],
    ["invalid", "never"],
    ["not-ours", "never"],
    ["exhausted", "never"],
    ["failed", "never"],
  ]
  it.each(table)("%s: %s", (reason, decision) => expect(decide(stop, fault(reason))).toBe(decision))

  it("a taken VMID is given up by the clone that wanted it", () => expect(decide(clone, fault("taken"))).toBe("reallocate"))

  it("a pool that still has members is tried again", () =>
    expect(decide({ kind: "remove-pool", poolId: "R" as RangeId }, fault("failed"))).toBe("repeat"))

  it("a guest that does not answer is checked again; a failed stage fails the step", () =>
    expect((["away", "failed", "timeout", "unsupported"] as const).map((reason) => decide(stop, guestFault(reason)))).toEqual([
      "look",
      "never",
      "never",
      "never",
    ]))
})
