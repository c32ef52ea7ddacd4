import { makeMemoryStore, makeMemoryWorld, memoryHypervisorLayer, memoryStorageLayer } from "@rangewright/adapter-memory"
import type { Vmid } from "@rangewright/domain"
import { Hypervisor, Machines, Ranges } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import { keepSettled } from "../src/run/keep.ts"
import { newRange } from "./support/new-range.ts"

it("an older read that is stored while a snapshot's stages are saved does not discard them", async () => {
  const vmid = 101 as Vmid
  const program = Effect.gen(function* () {
    const machines = yield* Machines
    const { id } = yield* (yield* Ranges).create(newRange("LAB"))
    yield* machines.recordStage(id, vmid, "address", "a1")
    const began = new Date((yield* Clock.currentTimeMillis) - 1000)
    const taken = { name: "clean", description: "", takenAt: 5, memory: false, incomplete: false }
    const keptWithOlder: typeof machines.keepStages = (...about) =>
      Effect.andThen(
        machines.keepStages(...about),
        machines.keepSnapshots(id, vmid, { readAt: began, snapshots: [], current: undefined }),
      )
    const step = {
      key: "take-snapshot:one",
      title: "Take a snapshot",
      after: [],
      uses: [],
      estimate: 1,
      action: {
        kind: "take-snapshot",
        machine: { vmid, node: "pve1", mark: { range: id, machine: "one" } },
        snapshot: { name: "clean", description: "", memory: false },
      },
    } as unknown as Parameters<typeof keepSettled>[0]
    const hypervisor = yield* Hypervisor
    yield* keepSettled(step, { facts: {}, output: "" }).pipe(
      Effect.provideService(Machines, { ...machines, keepStages: keptWithOlder }),
      Effect.provideService(Hypervisor, {
        ...hypervisor,
        snapshots: () => Effect.succeed({ snapshots: [taken], current: "clean" }),
      }),
    )
    yield* machines.recordStage(id, vmid, "address", "a2")
    yield* machines.recallStages(id, vmid, taken)
    return (yield* machines.stages(id)).get(vmid)
  })
  const layers = Layer.merge(memoryStorageLayer(makeMemoryStore()), memoryHypervisorLayer(makeMemoryWorld()))
  expect(await Effect.runPromise(Effect.provide(program, layers))).toEqual(new Map([["address", "a1"]]))
})
