import {
  addTemplate,
  licenseLayer,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryStorageLayer,
  openLicense,
} from "@rangewright/adapter-memory"
import { type RangeId, type RecordId, type Vmid, writeDescription } from "@rangewright/domain"
import { type GuestTask, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { expect, it } from "vitest"
import { settingsOf } from "../../src/playbook/options.ts"
import { readSite, sitePorts } from "../../src/playbook/site.ts"
import { plainSecrets } from "./support/plain-secrets.ts"

const rangeId = "LAB" as RangeId
const mark = { range: rangeId, machine: "web" }
const task: GuestTask = {
  machine: { vmid: 200 as Vmid, node: "node1", mark },
  name: "LAB-web",
  os: "linux",
  stage: "address",
  input: {},
  verbose: false,
}

it("a machine that goes off before it has an address is waited for no longer than a minute", async () => {
  const world = makeMemoryWorld()
  const machine = addTemplate(world, task.machine.vmid, task.name)
  world.vms.set(machine.vmid, { ...machine, template: false, pool: rangeId, description: writeDescription(mark, []) })
  const fault = Effect.gen(function* () {
    yield* Ranges.use((ranges) =>
      ranges.create({
        id: rangeId,
        recordId: "lab000000000000" as RecordId,
        number: 7,
        reservedNumbers: [],
        name: "Lab",
        description: "",
        purpose: "",
        config: "ludus: []\n",
        createdBy: undefined,
        owners: [],
        createdAt: new Date(0),
      }),
    )
    const reading = yield* Effect.forkChild(
      Effect.flip(readSite(yield* sitePorts, settingsOf({ folder: "/nowhere", library: "/nowhere" }), task)),
    )
    yield* TestClock.adjust("1 minute")
    return yield* Fiber.join(reading)
  })
  const needs = Layer.mergeAll(
    memoryHypervisorLayer(world),
    memoryStorageLayer(makeMemoryStore()),
    licenseLayer(openLicense),
    plainSecrets,
    TestClock.layer(),
  )
  expect(await Effect.runPromise(Effect.provide(fault, needs))).toMatchObject({
    facts: { reason: "away", detail: "it is powered off" },
  })
})
