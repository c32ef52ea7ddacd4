import { rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { openFold, waitingFor } from "@rangewright/domain"
import type { Fault } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { admin, boot, createRange, deploy } from "./support/lab.ts"
import { addZone, makeSimCompany, simEnd } from "./support/sim-lab.ts"

/** How long the cluster loses something, in milliseconds of its own time. */
const goneFor = 1_800_000

/** Deploys with the fault beginning this many milliseconds after the start; returns what the journal says about the wait. */
const deployThrough = async (fault: Fault, goesAt: number) => {
  const lab = makeSimCompany(3)
  await addZone(lab)
  const range = await createRange(lab)
  const process = boot(lab)
  const begun = lab.clock.now()
  lab.clock.schedule(goesAt, () => {
    const id = lab.sim.faults.add(fault)
    lab.clock.schedule(goneFor, () => void lab.sim.faults.remove(id))
  })
  const entries = await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const { id } = yield* engine.start(rangeRequest(range, deploy), admin)
      return yield* Stream.runCollect(engine.events(id, 0))
    }),
  )
  await process.dispose()
  /** When the first step began to wait, and when the last continued: seconds since the cluster recovered. */
  const fold = openFold()
  const waits: number[] = []
  const goesOn: number[] = []
  for (const entry of entries) {
    const waited = waitingFor(fold.state()) !== undefined
    fold.push(entry)
    const waitsNow = waitingFor(fold.state()) !== undefined
    if (waited !== waitsNow) (waitsNow ? waits : goesOn).push((entry.at.getTime() - begun - goesAt - goneFor) / 1000)
  }
  const end = entries.at(-1)?.event
  return { message: end?.type === "Ended" ? end.message : "no end", waits, goesOn, lab }
}

describe("a cluster that loses for half an hour", () => {
  const faults: readonly (readonly [string, Fault, number])[] = [
    ["the way to a node, whose machines boot", { kind: "node-down", node: "pve2" }, 20_000],
    ["the way to a node, in whose machines work is done", { kind: "node-down", node: "pve2" }, 60_000],
    ["the way to a node whose machines are being made", { kind: "node-down", node: "pve3" }, 3_000],
    ["its votes, while machines are made", { kind: "quorum-lost" }, 3_000],
  ]
  it.each(faults)(
    "%s: a run waits once, and continues within ten seconds of the end",
    { timeout: 60_000 },
    async (_, fault, goesAt) => {
      const { message, waits, goesOn, lab } = await deployThrough(fault, goesAt)
      expect(message).toBe("")
      expect(waits).toHaveLength(1)
      expect(goesOn).toEqual([expect.any(Number)])
      expect(goesOn[0]).toBeGreaterThanOrEqual(0)
      expect(goesOn[0]).toBeLessThanOrEqual(11)
      expect(simEnd(lab).vms.map(({ power }) => power)).toEqual(Array.from({ length: 6 }, () => "running"))
    },
  )
})
