import { vncAnswer } from "@rangewright/adapter-crypto"
import type { MachineRef, RangeId } from "@rangewright/domain"
import { type ByteChannel, exactly, HypervisorAccess, MachineConsole } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import {
  cloneOf,
  configureOf,
  deleteOf,
  type HypervisorUnderTest,
  onWorld,
  perform,
  rangeId,
  reasonOf,
  refOf,
  startOf,
  stopOf,
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
const consoleOf = ({ vmid, node }: MachineRef, range: RangeId = rangeId) => ({ vmid, node, range })

/** A viewer's first message, and the name of the screen in the answer. */
const nameOf = (channel: ByteChannel) =>
  Effect.gen(function* () {
    yield* channel.send(Uint8Array.of(1))
    const { take, rest } = exactly(channel)
    const head = (yield* take(24)) ?? new Uint8Array(24)
    const view = new DataView(head.buffer, head.byteOffset)
    expect([view.getUint16(0) > 0, view.getUint16(2) > 0]).toEqual([true, true])
    return { name: new TextDecoder().decode(yield* take(view.getUint32(20))), rest }
  })

const askForAll = Uint8Array.of(3, 0, 0, 0, 0, 0, 0, 1, 0, 1)

/** The console tests that every adapter passes. */
export const consoleContract = (hypervisor: HypervisorUnderTest): void => {
  describe(`${hypervisor.name}: consoles`, () => {
    const promises = (title: string, body: (world: World) => Promise<void>) => it(title, onWorld(hypervisor, body))
    const refusals = (world: World, ref: ReturnType<typeof consoleOf>) =>
      world.run(
        Effect.gen(function* () {
          const consoles = yield* MachineConsole
          return [yield* reasonOf(consoles.check(ref)), yield* reasonOf(Effect.scoped(consoles.open(ref, vncAnswer)))]
        }),
      )

    promises("a running machine shows its screen, to several viewers, each over a new connection", async (world) => {
      const ref = await made(world)
      await world.run(perform(startOf(ref)))
      const look = Effect.scoped(
        Effect.gen(function* () {
          const consoles = yield* MachineConsole
          yield* consoles.check(consoleOf(ref))
          const [one, other] = [yield* consoles.open(consoleOf(ref), vncAnswer), yield* consoles.open(consoleOf(ref), vncAnswer)]
          const { name, rest } = yield* nameOf(one)
          expect((yield* nameOf(other)).name).toBe(name)
          expect(name).toContain(String(ref.vmid))
          yield* rest.send(askForAll)
          expect((yield* rest.receive)?.[0]).toBe(0)
        }),
      )
      await world.run(look)
      await world.run(look)
    })

    promises("a machine that is off, missing or not of the range has none", async (world) => {
      const ref = await made(world)
      expect(await refusals(world, consoleOf(ref))).toEqual(["failed", "failed"])
      await world.run(perform(startOf(ref)))
      expect(await refusals(world, consoleOf(ref, "LAB2" as RangeId))).toEqual(["not-ours", "not-ours"])
      expect(await refusals(world, { ...consoleOf(ref), vmid: vmidOf(29_999) })).toEqual(["not-found", "not-found"])
      expect(await refusals(world, { ...consoleOf(ref), vmid: world.template.vmid })).toEqual(["not-ours", "not-ours"])
    })

    promises("it closes when the machine is turned off, and when it is removed", async (world) => {
      const ref = await made(world)
      const closes = (end: Effect.Effect<unknown, unknown, Effect.Services<ReturnType<typeof perform>>>) =>
        Effect.scoped(
          Effect.gen(function* () {
            yield* perform(startOf(ref))
            const channel = yield* MachineConsole.use((consoles) => consoles.open(consoleOf(ref), vncAnswer))
            const { rest } = yield* nameOf(channel)
            yield* end
            while ((yield* rest.receive) !== undefined);
            yield* rest.send(askForAll)
          }),
        )
      await world.run(closes(perform(stopOf(ref))))
      await world.run(closes(Effect.andThen(perform(stopOf(ref)), perform(deleteOf(ref)))))
      expect(world.exists(ref.vmid)).toBe(false)
    })
  })
}
