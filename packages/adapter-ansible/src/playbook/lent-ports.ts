import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { runCommand, whyItEnded } from "../tool/run-command.ts"
import { playbooksFolder } from "./options.ts"
import { socketName } from "./relay.ts"
import { environmentOf } from "./scratch.ts"

/** Where Windows machines answer. */
const winrmPort = 5986

const portsIn = (line: string, addresses: readonly string[]): ReadonlyMap<string, number> => {
  const ports = line.split(" ").map(Number)
  return new Map(addresses.flatMap((address, i) => (ports[i] === undefined ? [] : [[address, ports[i]] as const])))
}

/**
 * WinRM and PSRP speak to a host and a port only. So each of these addresses gets a port of loopback, which leads to WinRM there over the
 * relay in the run's scratch folder, and to nothing else. It lets in nobody but the service's own account, and is gone when the scope ends.
 * A program of its own listens: behind a launcher, loopback is not that of this process.
 */
export const openPorts = (
  launcher: readonly string[],
  scratch: string,
  addresses: readonly string[],
): Effect.Effect<ReadonlyMap<string, number>, Error, Scope.Scope> =>
  Effect.gen(function* () {
    if (addresses.length === 0) return new Map()
    // what ends with its folder must not end the run's own
    const folder = join(scratch, "ports")
    yield* Effect.tryPromise({ try: () => mkdir(folder, { mode: 0o700 }), catch: (cause) => new Error(String(cause)) })
    const script = join(playbooksFolder, "files", "lend.py")
    const [program = "python3", ...args] = [
      ...launcher,
      "python3",
      script,
      join("..", socketName),
      String(winrmPort),
      ...addresses,
    ]
    const opened = yield* Deferred.make<ReadonlyMap<string, number>>()
    let said = ""
    const lending = yield* Effect.forkScoped(
      runCommand({ program, args, env: environmentOf(folder), folder }, 65_536, (stream, line) => {
        if (stream === "stdout") Deferred.doneUnsafe(opened, Effect.succeed(portsIn(line, addresses)))
        else said += `${line}\n`
      }),
    )
    const ended = Effect.flatMap(Fiber.join(lending), (end) => {
      const because = whyItEnded("what listens there", said, end)
      return Effect.fail(new Error(`no port of loopback can be lent: ${because}`))
    })
    return yield* Effect.raceFirst(Deferred.await(opened), ended)
  })
