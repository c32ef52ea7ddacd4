import { type Cidr, addressNumber } from "@rangewright/domain"
import { connectWithin, portsWithin } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type Server, type Socket } from "node:net"

/** Somebody's first line to the server that Packer runs for machines. */
export interface Fetched {
  readonly by: string
  readonly path: string
}

export interface AnswersOptions {
  /** The run's folder. */
  readonly folder: string
  /** Where machines come for their answers. */
  readonly address: string
  /** Who may come. */
  readonly networks: readonly Cidr[]
  readonly onFetched: (fetched: Fetched) => void
  readonly say: (line: string) => void
}

const lookMillis = 300

/** Where Packer serves unless a template says otherwise; that much of this host is open to machines that are installed. */
export const answerPorts = { first: 8000, last: 9000 } as const
/** Ports of which it is said that they are not passed on, and those that are passed on at once. */
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
          // not before: what comes while nobody takes it would be lost
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

/** Lets machines reach what Packer serves for them, at the same port of this host, as long as the scope lasts. */
export const serveAnswers = (options: AnswersOptions): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Socket>()
    const told = new Set<number>()
    const open = new Map<number, Server | undefined>()
    yield* Effect.addFinalizer(() =>
      Effect.promise(async () => {
        const closed = [...open.values()].map((server) => new Promise((resolve) => server?.close(resolve) ?? resolve(undefined)))
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
          server?.close()
          open.delete(port)
        }
      for (const port of ports) {
        if (open.has(port) || open.size >= mostOpen) continue
        const server = await serve(options, port, sockets).catch((error: Error) => {
          options.say(`machines cannot reach port ${port} of ${options.address}, where their answers are: ${error.message}`)
          return undefined
        })
        open.set(port, server)
      }
    }
    yield* Effect.promise(look).pipe(Effect.andThen(Effect.sleep(lookMillis)), Effect.forever, Effect.forkScoped)
  })
