import { type Json, macOf } from "@rangewright/domain"
import { GuestAutomation, type GuestTask, Hypervisor, HypervisorAccess } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import {
  cloneOf,
  configureOf,
  type HypervisorUnderTest,
  onWorld,
  perform,
  rangeId,
  reasonOf,
  refOf,
  startOf,
  type World,
} from "./support/under-test.ts"

const runStage = (task: GuestTask) =>
  GuestAutomation.use((guests) => Effect.flatMap(guests.dispatch(task), ({ token }) => guests.settle(task, token)))

/** A running machine of ours. */
const started = (world: World) =>
  Effect.gen(function* () {
    const ref = refOf(world)
    yield* HypervisorAccess.use((access) => access.ensurePool(rangeId))
    yield* perform(cloneOf(world, ref))
    yield* perform(configureOf(ref))
    yield* perform(startOf(ref, true))
    return ref
  })

const taskOf = (world: World, change: Partial<GuestTask> = {}): GuestTask => ({
  machine: refOf(world),
  name: "LAB1-vm20001",
  os: "linux",
  stage: "address",
  input: { interface: 0, mac: macOf(20_001, 0), address: "10.1.10.11/24", gateway: "10.1.10.254", dns: ["10.1.10.254"] } as Json,
  verbose: false,
  ...change,
})

/** The tests of stages in guests that every adapter passes. */
export const guestContract = (hypervisor: HypervisorUnderTest): void => {
  describe(`${hypervisor.name}: stages in guests`, () => {
    const promises = (title: string, body: (world: World) => Promise<void>) => it(title, onWorld(hypervisor, body))

    promises("a stage has its effect, which the next observation sees", async (world) => {
      const ref = await world.run(started(world))
      const { facts } = await world.run(runStage(taskOf(world)))
      expect(facts.changed).toBe(true)
      expect(await world.run(Hypervisor.use((h) => h.addresses(world.node, ref.vmid)))).toContain("10.1.10.11")
    })

    promises("the same stage with the same input again changes nothing", async (world) => {
      await world.run(started(world))
      await world.run(runStage(taskOf(world)))
      expect((await world.restarted().run(runStage(taskOf(world)))).facts.changed).toBe(false)
    })

    promises("a stage settles for a process that did not dispatch it, and may be settled again", async (world) => {
      await world.run(started(world))
      const task = taskOf(world, { stage: "packages", input: { packages: ["curl"] } })
      const { token } = await world.run(GuestAutomation.use((guests) => guests.dispatch(task)))
      const settle = GuestAutomation.use((guests) => guests.settle(task, token))
      expect((await world.restarted().run(settle)).facts.changed).toBe(true)
      expect((await world.restarted().run(settle)).facts.changed).toBeDefined()
    })

    promises("a stage on a machine that is off fails as `away`", async (world) => {
      const ref = refOf(world)
      await world.run(HypervisorAccess.use((access) => access.ensurePool(rangeId)))
      await world.run(perform(cloneOf(world, ref)))
      expect(await world.run(reasonOf(runStage(taskOf(world))))).toBe("away")
    })

    promises("never runs a stage on a machine without our mark", async (world) => {
      await world.stranger(20_001)
      expect(await world.run(reasonOf(runStage(taskOf(world))))).toBe("failed")
    })
  })
}
