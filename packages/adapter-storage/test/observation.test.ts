import { join } from "node:path"
import type { ObservedCluster, ObservedMachine, RangeId, Vmid } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { aliceWithLab, onFile, temporaryFolder } from "./support.ts"

const machine = (n: number): ObservedMachine => ({
  vmid: (20_000 + n) as Vmid,
  node: "node1",
  name: n % 7 === 0 ? undefined : `vm-${n}`,
  power: n % 2 === 0 ? "running" : "stopped",
  template: n % 5 === 0,
  pool: n % 3 === 0 ? undefined : ("LAB" as RangeId),
  cpus: n / 2,
  memoryMiB: 1024.25,
  tags: ["rangewright"],
})
const cluster = (second: number, machines: readonly ObservedMachine[]): ObservedCluster => ({
  at: new Date(Date.UTC(2020, 0, 1, 0, 0, second)),
  nodes: [],
  storages: [],
  machines,
})
const thousand = Array.from({ length: 1000 }, (_, n) => machine(n))

it("keeps the revision when an observation has no news, and writes only what is new", async () => {
  await onFile(
    join(await temporaryFolder(), "data.db"),
    Effect.gen(function* () {
      yield* aliceWithLab
      const machines = yield* Machines
      const { revision } = yield* Ranges
      yield* machines.replace(cluster(1, thousand))
      const before = yield* revision
      yield* machines.replace(cluster(2, thousand.toReversed()))
      expect(yield* revision).toBe(before)
      expect((yield* machines.freshness).observedAt).toEqual(cluster(2, []).at)
      yield* machines.replace(cluster(3, thousand.with(4, { ...machine(4), power: "paused" })))
      expect((yield* revision) - before).toBeLessThanOrEqual(2)
      expect((yield* machines.find(machine(4).vmid))?.power).toBe("paused")
    }),
  )
})
