import { readDescription } from "@rangewright/domain"
import { byteChannel, type ByteChannel, type ConsoleRef, exactly, MachineConsole } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { called, hypervisorFault, type MemoryVm, type MemoryWorld } from "./memory-world.ts"

/** The two ends of an in-process connection. */
const connected = (): readonly [ByteChannel, ByteChannel, close: () => void] => {
  const room = { pause: () => undefined, resume: () => undefined }
  const left = byteChannel({
    ...room,
    write: (bytes, written) => {
      right.arrived(bytes)
      written()
    },
  })
  const right = byteChannel({
    ...room,
    write: (bytes, written) => {
      left.arrived(bytes)
      written()
    },
  })
  return [
    left.channel,
    right.channel,
    () => {
      left.ended()
      right.ended()
    },
  ]
}

/** 32 bits per pixel, of which colours use 24 (RFC 6143, 7.4). */
const pixelFormat = [32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]

/** Lengths of viewers' messages after the first; those of variable length are not supported. */
const lengths: Readonly<Record<number, number>> = { 0: 20, 3: 10, 4: 8, 5: 6 }

/** A screen with one white pixel, sent to a viewer that requests it. */
const show = (channel: ByteChannel, { name, vmid }: MemoryVm): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { take } = exactly(channel)
    if ((yield* take(1)) === undefined) return
    const title = new TextEncoder().encode(`${name} (${vmid})`)
    yield* channel.send(Uint8Array.from([0, 1, 0, 1, ...pixelFormat, 0, 0, 0, title.length, ...title]))
    for (;;) {
      const [type] = (yield* take(1)) ?? []
      const length = type === undefined ? undefined : lengths[type]
      if (length === undefined || (yield* take(length - 1)) === undefined) return
      if (type === 3) yield* channel.send(Uint8Array.from([0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 255, 255, 255, 0]))
    }
  })

/** Consoles of the world's machines: turning off or removing a machine closes its consoles. */
export const consoleLayer = (world: MemoryWorld): Layer.Layer<MachineConsole> => {
  const running = ({ vmid, range }: ConsoleRef) =>
    Effect.suspend(() => {
      const doing = `open the console of VM ${vmid}`
      const vm = world.vms.get(vmid)
      if (vm === undefined) return Effect.fail(hypervisorFault(doing, "not-found", `VM ${vmid} does not exist`))
      if (vm.template || readDescription(vm.description).mark?.range !== range)
        return Effect.fail(hypervisorFault(doing, "not-ours", `VM ${vmid} is not a machine of range ${range}`))
      if (vm.power !== "running") return Effect.fail(hypervisorFault(doing, "failed", `VM ${vmid} does not run`))
      return Effect.succeed(vm)
    })
  const call = (method: string) => ({ port: "console" as const, method, mutating: false, action: undefined })
  return Layer.succeed(MachineConsole, {
    check: (machine) => called(world, call("check"), Effect.asVoid(running(machine))),
    open: (machine) =>
      Effect.gen(function* () {
        const vm = yield* called(world, call("open"), running(machine))
        const [viewer, screen, close] = connected()
        world.consoles.set(close, vm.vmid)
        const end = Effect.sync(() => {
          world.consoles.delete(close)
          close()
        })
        yield* Effect.addFinalizer(() => end)
        yield* Effect.forkScoped(Effect.ensuring(show(screen, vm), end))
        return viewer
      }),
  })
}
