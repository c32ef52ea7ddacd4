import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { open, rm } from "node:fs/promises"
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http"
import type { Duplex } from "node:stream"
import { join } from "node:path"
import type { Dial } from "./dial.ts"
import type { Permission } from "./reach.ts"

/** Name of the relay's socket in the folder of a run. */
export const relaySocket = "relay"

/** Connections of one run at a time; further ones are closed at once. */
const mostConnections = 128

/** How the relay of one run decides and connects. */
export interface RelayOptions {
  readonly permission: (host: string, port: number) => Promise<Permission>
  readonly dial: Dial
  /** Called with the reason of each connection that was refused. */
  readonly onRefused?: (because: string) => void
}

/** The connection is not allowed. The message is sent to the tool, worded for the author of its input. */
class Refusal extends Error {}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  EHOSTUNREACH: "no route to host",
  ENETUNREACH: "no route to its network",
  ETIMEDOUT: "it does not answer",
}

const inWords = (failure: unknown): string => {
  if (!(failure instanceof Error)) return String(failure)
  const code = "code" in failure && typeof failure.code === "string" ? failure.code : ""
  return words[code] ?? failure.message
}

/** Connects to the first permitted address that answers. */
const connectTo = async ({ permission, dial }: RelayOptions, host: string, port: number): Promise<Duplex> => {
  const permitted = await permission(host, port)
  if ("because" in permitted) throw new Refusal(permitted.because)
  let failure: unknown
  for (const address of permitted.addresses)
    try {
      return await dial(address, port)
    } catch (error) {
      failure = error
    }
  throw new Error(`${host}:${port} cannot be reached: ${inWords(failure)}`)
}

/** The error's message as one header line. */
const lineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/[^\x20-\x7e]+/gu, " ").slice(0, 300)

// tools retry for minutes on a gateway error (502, 504), but give up at once on other errors, which is what we want here
const tell = (options: RelayOptions, error: unknown): { readonly status: 403 | 500; readonly reason: string } => {
  const reason = lineOf(error)
  if (!(error instanceof Refusal)) return { status: 500, reason }
  options.onRefused?.(reason)
  return { status: 403, reason }
}

const hostAndPort = (authority: string): { readonly host: string; readonly port: number } => {
  const { v6, name = "", port = "" } = /^(?:\[(?<v6>[^\]]*)\]|(?<name>[^:]*)):(?<port>[0-9]{1,5})$/u.exec(authority)?.groups ?? {}
  return { host: v6 ?? name, port: Number(port) }
}

const joinStreams = (one: Duplex, other: Duplex): void => {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to)
    from.once("error", () => to.destroy())
    from.once("close", () => to.destroy())
  }
}

const onConnect =
  (options: RelayOptions) =>
  (asked: IncomingMessage, client: Duplex, head: Buffer): void => {
    client.on("error", () => client.destroy())
    const { host, port } = hostAndPort(asked.url ?? "")
    connectTo(options, host, port).then(
      (server) => {
        if (client.destroyed) return void server.destroy()
        client.write("HTTP/1.1 200 Connected\r\n\r\n")
        if (head.length > 0) server.write(head)
        joinStreams(client, server)
      },
      (error: unknown) => {
        const { status, reason } = tell(options, error)
        client.end(`HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      },
    )
  }

/** Headers that concern only the connection between tool and relay. */
const hopByHop = ["connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"]

const withoutHops = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)))

const onRequest =
  (options: RelayOptions) =>
  (asked: IncomingMessage, answer: ServerResponse): void => {
    const fail = (error: unknown): void => {
      const { status, reason } = tell(options, error)
      if (answer.headersSent) return void answer.destroy()
      answer.writeHead(status, reason, { "content-type": "text/plain", connection: "close" }).end(`${reason}\n`)
    }
    const url = URL.parse(asked.url ?? "")
    if (url === null || url.protocol !== "http:") return fail(new Error("only http URLs are forwarded"))
    const host = url.hostname.replace(/^\[|\]$/gu, "")
    const port = url.port === "" ? 80 : Number(url.port)
    // an exception thrown in here must not end the service: the other side may be anybody
    const passOn = (socket: Duplex): void => {
      if (answer.destroyed) return void socket.destroy()
      answer.once("close", () => socket.destroy())
      const agent = new Agent({ keepAlive: false })
      agent.createConnection = () => socket
      const passed = request({
        agent,
        method: asked.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...withoutHops(asked.headers), host: url.host },
      })
      passed.on("response", (response) => {
        response.on("error", fail)
        try {
          answer.writeHead(response.statusCode ?? 502, withoutHops(response.headers))
        } catch {
          return void passed.destroy(new Error(`${host}:${port} sent an answer that is not HTTP`))
        }
        response.pipe(answer)
      })
      passed.on("error", fail)
      // an upgrade that nobody asked for ends without an error event
      passed.once("close", () => (answer.headersSent ? undefined : fail(new Error(`${host}:${port} closed without an answer`))))
      asked.pipe(passed)
    }
    connectTo(options, host, port).then(passOn).catch(fail)
  }

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(path, resolve)
  })

/**
 * Opens the only way out of a run's network namespace: an HTTP proxy on a socket in the run's folder, open until the scope ends. Each
 * connection is decided on separately, and made only to an address that was permitted.
 */
export const openRelay = (folder: string, options: RelayOptions): Effect.Effect<void, Error, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          const sockets = new Set<Duplex>()
          const kept: Dial = async (address, port) => {
            const socket = await options.dial(address, port)
            sockets.add(socket.once("close", () => sockets.delete(socket)))
            return socket
          }
          // an upload lasts as long as the run lets it
          const server = createServer({ requestTimeout: 0, headersTimeout: 60_000 }, onRequest({ ...options, dial: kept }))
          server.maxConnections = mostConnections
          server.on("connect", onConnect({ ...options, dial: kept }))
          server.on("clientError", (_, client) => client.destroy())
          server.on("connection", (client) => sockets.add(client.once("close", () => sockets.delete(client))))
          await rm(join(folder, relaySocket), { force: true })
          // socket paths are limited in length, and the path of a data folder may be longer
          const place = await open(folder)
          await listening(server, `/proc/self/fd/${place.fd}/${relaySocket}`).catch(async (error: unknown) => {
            await place.close()
            throw error
          })
          return { server, sockets, place }
        },
        catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
      }),
      ({ server, sockets, place }) =>
        Effect.promise(async () => {
          const closed = new Promise((resolve) => server.close(resolve))
          for (const socket of sockets) socket.destroy()
          await closed
          // closed last: the server unlinks its socket by that path, and a reused descriptor number would lead to another run's socket
          await place.close()
        }),
    ),
  )
