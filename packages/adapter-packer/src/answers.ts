import { type Cidr, addressNumber } from "@rangewright/domain"
import { connectWithin, portsWithin } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type Server, type Socket } from "node:net"

/** The first line of a machine's request to the server that Packer runs for machines. */
export interface Fetched {
  readonly by: string
  readonly path: string
}

export interface AnswersOptions {
  /** Folder of the run. */
  readonly folder: string
  /** Where machines fetch Packer's files. */
  readonly address: string
  /** Networks that may connect. */
  readonly networks: readonly Cidr[]
  readonly onFetched: (fetched: Fetched) => void
  readonly say: (line: string) => void
}

const lookMillis = 300

/** Ports on which Packer serves unless a template says otherwise; they are open on this host to machines being installed. */
export const answerPorts = { first: 8000, last: 9000 } as const
/** Most ports reported as not forwarded, and most connections forwarded at once. */
const [mostTold, mostOpen] = [4, 8]

const isIn = (networks: readonly Cidr[], address: string): boolean => {
  const number = addressNumber(address.replace(/^::ffff:/u, ""))
  return number !== undefined && networks.some(({ first, last }) => first <= number && number <= last)
}

const firstLine = /^(?:GET|HEAD) (?<path>\/\S*) HTTP\//u

const serve = (options: AnswersOptions, port: number, sockets: Set<Socket>): Promise<Server> =>
  new Promise((resolve, reject) => {
    const keep = (socket: Socket): Socket => {
      sockets.add(socket)
      return socket.once("close", () => sockets.delete(socket)).on("error", () => socket.destroy())
    }
    const server = createServer({ allowHalfOpen: true }, (machine) => {
      keep(machine)
      const by = machine.remoteAddress ?? ""
      if (!isIn(options.networks, by)) return void machine.destroy()
      connectWithin(options.folder, port).then(
        (inside) => {
          keep(inside)
          // attached only now: data that arrives before a reader exists would be lost
          machine.once("data", (chunk: Buffer) => {
            const path = firstLine.exec(chunk.toString("latin1", 0, 2048))?.groups?.["path"]
            if (path !== undefined) options.onFetched({ by: by.replace(/^::ffff:/u, ""), path: path.slice(0, 200) })
          })
          machine.pipe(inside)
          inside.pipe(machine)
          machine.once("close", () => inside.destroy())
          inside.once("close", () => machine.destroy())
        },
        () => machine.destroy(),
      )
    })
    server.maxConnections = 64
    server.once("error", reject)
    server.listen({ host: options.address, port }, () => resolve(server))
  })

/** Forwards machines to what Packer serves, at the same port of this host, until the scope ends. */
export const serveAnswers = (options: AnswersOptions): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Socket>()
    const told = new Set<number>()
    const open = new Map<number, Server>()
    yield* Effect.addFinalizer(() =>
      Effect.promise(async () => {
        const closed = [...open.values()].map((server) => new Promise((resolve) => server.close(resolve)))
        for (const socket of sockets) socket.destroy()
        await Promise.all(closed)
      }),
    )
    const look = async (): Promise<void> => {
      const waiting = await portsWithin(options.folder)
      const { first, last } = answerPorts
      const ports = waiting.filter((port) => first <= port && port <= last)
      for (const port of waiting) {
        if (ports.includes(port) || told.has(port) || told.size >= mostTold) continue
        told.add(port)
        options.say(`machines cannot reach port ${port} here: answers are only served from ports ${first} to ${last}`)
      }
      for (const [port, server] of open)
        if (!ports.includes(port)) {
          server.close()
          open.delete(port)
        }
      for (const port of ports) {
        if (open.has(port) || open.size >= mostOpen) continue
        const server = await serve(options, port, sockets).catch((error: Error) => {
          if (!told.has(port))
            options.say(`machines cannot reach port ${port} of ${options.address}, where their answers are: ${error.message}`)
          told.add(port)
          return undefined
        })
        if (server !== undefined) open.set(port, server)
      }
    }
    yield* Effect.promise(look).pipe(Effect.andThen(Effect.sleep(lookMillis)), Effect.forever, Effect.forkScoped)
  })
