import { type MachineRef, readSnapshotText } from "@rangewright/domain"
import { Hypervisor, HypervisorAccess } from "@rangewright/ports"
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
  removeOf,
  rollBackOf,
  startOf,
  takeOf,
  vmidOf,
  type World,
} from "./support/under-test.ts"

const made = async (world: World): Promise<MachineRef> => {
  const ref = refOf(world)
  const withPool = HypervisorAccess.use((access) => access.ensurePool(rangeId))
  await world.run(Effect.andThen(withPool, perform(cloneOf(world, ref))))
  await world.run(perform(configureOf(ref)))
  return ref
}
const treeOf = (world: World, { vmid }: MachineRef) => world.run(Hypervisor.use((h) => h.snapshots(world.node, vmid)))
const detailOf = (world: World, { vmid }: MachineRef) => world.run(Hypervisor.use((h) => h.detail(world.node, vmid)))

/** The tests of machine snapshots that every adapter passes. */
export const snapshotsContract = (hypervisor: HypervisorUnderTest): void => {
  describe(`${hypervisor.name}: snapshots`, () => {
    const promises = (title: string, body: (world: World) => Promise<void>) => it(title, onWorld(hypervisor, body))

    promises("a machine has none at first, and can have some", async (world) => {
      const ref = await made(world)
      expect(await treeOf(world, ref)).toMatchObject({ snapshots: [], current: undefined, running: false })
      expect(await world.run(Hypervisor.use((h) => h.canSnapshot(world.node, ref.vmid)))).toBe(true)
    })

    promises("a missing machine has no snapshots", async (world) => {
      const absent = vmidOf(29_999)
      expect(await world.run(reasonOf(Hypervisor.use((h) => h.snapshots(world.node, absent))))).toBe("not-found")
      expect(await world.run(reasonOf(Hypervisor.use((h) => h.canSnapshot(world.node, absent))))).toBe("not-found")
    })

    promises("a snapshot shows the network cards that the machine had when it was taken", async (world) => {
      const ref = await made(world)
      const { nics } = await detailOf(world, ref)
      await world.run(perform(takeOf(ref, "first")))
      expect(nics.length).toBeGreaterThan(0)
      expect(await world.run(Hypervisor.use((h) => h.snapshotCards(world.node, ref.vmid, "first")))).toEqual(nics)
    })

    promises("takes one after another, and reports their order", async (world) => {
      const ref = await made(world)
      await world.run(perform(takeOf(ref, "first")))
      await world.run(perform(takeOf(ref, "second")))
      const { snapshots, current } = await treeOf(world, ref)
      expect(current).toBe("second")
      expect(
        snapshots
          .map(({ name, parent, memory, incomplete }) => ({ name, parent, memory, incomplete }))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      ).toEqual([
        { name: "first", parent: undefined, memory: false, incomplete: false },
        { name: "second", parent: "first", memory: false, incomplete: false },
      ])
      expect(snapshots.map(({ description }) => readSnapshotText(description))).toEqual([
        "As it was delivered",
        "As it was delivered",
      ])
      expect(snapshots.every(({ takenAt }) => Number.isInteger(takenAt))).toBe(true)
    })

    promises(
      "an existing one with the same request is a success with nothing to wait for, even for another process",
      async (world) => {
        const ref = await made(world)
        await world.run(perform(takeOf(ref)))
        expect(await world.restarted().run(perform(takeOf(ref)))).toBeNull()
        expect((await treeOf(world, ref)).snapshots).toHaveLength(1)
      },
    )

    promises("one of the same name from another request is `taken`, and stays as it is", async (world) => {
      const ref = await made(world)
      await world.run(perform(takeOf(ref)))
      const before = await treeOf(world, ref)
      const take = takeOf(ref)
      const other = { ...take, snapshot: { ...take.snapshot, description: "by hand" } }
      expect(await world.run(reasonOf(perform(other)))).toBe("taken")
      expect(await world.run(reasonOf(perform({ ...removeOf(ref), description: "by hand" })))).toBe("not-ours")
      expect(await treeOf(world, ref)).toEqual(before)
    })

    promises("dispatched twice at once, it is taken once, and both settle", async (world) => {
      const ref = await made(world)
      const take = takeOf(ref)
      const token = await world.run(
        Effect.gen(function* () {
          const h = yield* Hypervisor
          const first = yield* h.dispatch(take)
          const second = yield* h.dispatch(take)
          yield* h.settle(take, first.token)
          yield* h.settle(take, second.token)
          return first.token
        }),
      )
      await world.restarted().run(Hypervisor.use((h) => h.settle(take, token)))
      expect((await treeOf(world, ref)).snapshots).toHaveLength(1)
    })

    promises("memory is saved only of a running machine", async (world) => {
      const ref = await made(world)
      await world.run(perform(takeOf(ref, "off", true)))
      await world.run(perform(startOf(ref, true)))
      await world.run(perform(takeOf(ref, "running", true)))
      const { snapshots, running } = await treeOf(world, ref)
      expect(running).toBe(true)
      expect(Object.fromEntries(snapshots.map(({ name, memory }) => [name, memory]))).toEqual({ off: false, running: true })
    })

    promises("a machine is rolled back to its earlier state, off, and keeps its mark", async (world) => {
      const ref = await made(world)
      await world.run(perform(takeOf(ref)))
      const { settings } = configureOf(ref)
      await world.run(perform({ ...configureOf(ref), settings: { ...settings, cpus: 5, tags: ["later"] } }))
      await world.run(perform(startOf(ref)))
      const { digest } = await detailOf(world, ref)
      expect(await world.run(Effect.as(perform(rollBackOf(ref, "clean", { digest })), "done"))).toBe("done")
      expect(await detailOf(world, ref)).toMatchObject({ cpus: settings.cpus, description: expect.stringContaining("LAB1") })
      expect(await treeOf(world, ref)).toMatchObject({ current: "clean", running: false })
      // the reference is still valid
      await world.run(perform(startOf(ref)))
    })

    promises("with its memory it runs again", async (world) => {
      const ref = await made(world)
      await world.run(perform(startOf(ref, true)))
      await world.run(perform(takeOf(ref, "running", true)))
      await world.run(perform(rollBackOf(ref, "running")))
      expect(await treeOf(world, ref)).toMatchObject({ current: "running", running: true })
    })

    promises("a rollback whose answer was lost is not repeated, and what has run since stays", async (world) => {
      const ref = await made(world)
      await world.run(perform(takeOf(ref)))
      const { generation } = await detailOf(world, ref)
      expect(generation).toBeDefined()
      const rollBack = rollBackOf(ref, "clean", { generation })
      await world.run(perform(rollBack))
      await world.run(perform(startOf(ref)))
      await world.restarted().run(perform(rollBack))
      expect(await treeOf(world, ref)).toMatchObject({ current: "clean", running: true })
    })

    promises(
      "neither a rollback nor a removal uses a newer snapshot of the same name instead of the intended one",
      async (world) => {
        const ref = await made(world)
        await world.run(perform(takeOf(ref)))
        const takenAt = (await treeOf(world, ref)).snapshots[0]!.takenAt
        await world.run(perform(removeOf(ref, "clean", takenAt)))
        await world.run(Effect.sleep("2 seconds"))
        await world.run(perform(takeOf(ref)))
        await world.run(perform(startOf(ref)))
        await world.run(perform(removeOf(ref, "clean", takenAt)))
        expect(await world.run(reasonOf(perform(rollBackOf(ref, "clean", { takenAt }))))).toBe("failed")
        expect(await treeOf(world, ref)).toMatchObject({ current: "clean", running: true, snapshots: [{ name: "clean" }] })
      },
    )

    promises("a rollback to a missing snapshot fails, and changes nothing", async (world) => {
      const ref = await made(world)
      await world.run(perform(startOf(ref)))
      expect(await world.run(reasonOf(perform(rollBackOf(ref))))).toBe("failed")
      expect(await treeOf(world, ref)).toMatchObject({ running: true })
    })

    promises("removing one leaves the others in their order; removing it again is a success", async (world) => {
      const ref = await made(world)
      for (const name of ["first", "second", "third"]) await world.run(perform(takeOf(ref, name)))
      await world.run(perform(removeOf(ref, "second")))
      expect(await world.restarted().run(perform(removeOf(ref, "second")))).toBeNull()
      const { snapshots, current } = await treeOf(world, ref)
      expect(current).toBe("third")
      expect(snapshots.map(({ name, parent }) => `${parent} ${name}`).toSorted()).toEqual(["first third", "undefined first"])
    })
  })
}
