import { addressNumber, type Cidr, natNetwork, rangeNetwork } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { open } from "node:fs/promises"
import { createServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import type { Way } from "./jump.ts"
import { playbooksFolder } from "./options.ts"

/** Its name in the scratch folder of a run. */
export const socketName = "way"
/** An address and a port in a line. */
const request = /^(?<host>[0-9.]{7,15}) (?<port>[0-9]{1,5})$/u
const longestRequest = 64

/** Arguments by which SSH reaches a machine through the relay, where the working folder is the run's own. */
export const relayArguments = `-o ProxyCommand="python3 '${join(playbooksFolder, "files", "reach.py")}' ${socketName} %h %p"`

const holds = (network: Cidr, address: number): boolean => network.first <= address && address <= network.last

/** Whether the machines of a range may be there: what else the jump host reaches is nobody's business here. */
const isOfRange = (rangeNumber: number, host: string): boolean => {
  const address = addressNumber(host)
  return address !== undefined && [rangeNetwork(rangeNumber), natNetwork].some((network) => holds(network, address))
}

/** Where one asks to be connected to; undefined where that is nowhere that a run may reach. */
export const destinationOf = (rangeNumber: number, line: string): string | undefined => {
  const { host = "", port = "" } = request.exec(line)?.groups ?? {}
  const isPort = Number(port) >= 1 && Number(port) <= 65_535
  return isPort && isOfRange(rangeNumber, host) ? `${host}:${Number(port)}` : undefined
}

const connect = ({ command }: Way, client: Socket, destination: string, first: Uint8Array): void => {
  const { program, args, env, folder } = command(destination)
  const child = spawn(program, args, { cwd: folder, env: { ...env }, stdio: ["pipe", "pipe", "ignore"] })
  child.once("error", () => client.destroy())
  child.stdin.on("error", () => client.destroy())
  child.stdin.write(first)
  client.pipe(child.stdin)
  child.stdout.pipe(client)
  client.once("close", () => child.kill("SIGKILL"))
}

const serve = (way: Way, rangeNumber: number, client: Socket): void => {
  let heard = Buffer.alloc(0)
  const listen = (bytes: Buffer): void => {
    heard = Buffer.concat([heard, bytes])
    const end = heard.indexOf("\n")
    if (end < 0 && heard.length <= longestRequest) return
    client.off("data", listen)
    const destination = destinationOf(rangeNumber, heard.subarray(0, Math.max(end, 0)).toString("latin1"))
    if (destination === undefined) client.destroy()
    else connect(way, client, destination, heard.subarray(end + 1))
  }
  client.on("data", listen)
  client.on("error", () => client.destroy())
}

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(path, resolve)
  })

/**
 * Lends connections to the machines of a range, and to nothing else, to whoever has the run's scratch folder, until the scope ends. A
 * sandbox sees this and not the socket of the way itself, by which SSH could be told to open files and sockets of the service's host.
 */
export const openRelay = (way: Way, rangeNumber: number, scratch: string): Effect.Effect<void, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const clients = new Set<Socket>()
        const server = createServer({ allowHalfOpen: true }, (client) => {
          clients.add(client.once("close", () => clients.delete(client)))
          serve(way, rangeNumber, client)
        })
        // paths of sockets have to be short, and that of a data folder need not be
        const folder = await open(scratch)
        try {
          await listening(server, `/proc/self/fd/${folder.fd}/${socketName}`)
        } finally {
          await folder.close()
        }
        return { server, clients }
      },
      catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
    }),
    ({ server, clients }) =>
      Effect.sync(() => {
        server.close()
        for (const client of clients) client.destroy()
      }),
  )
