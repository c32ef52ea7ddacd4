import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { sharePort, type TlsPair } from "./share-port.ts"
import type { HttpApp } from "./http-app.ts"

export interface ListenOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Certificate and key, PEM. Undefined: plain HTTP for everybody, for a service behind a proxy that terminates TLS. */
  readonly tls: TlsPair | undefined
  readonly limits?: Partial<ConnectionLimits>
  /**
   * Called when the system fails the open port, for example when no descriptors are left to accept a connection. Default: a process
   * warning.
   */
  readonly onError?: (error: Error) => void
}

export interface Listener {
  readonly host: string
  readonly port: number
  /**
   * Stops accepting connections, lets requests in flight end, and cuts the remaining ones after `deadline` milliseconds. Resolves when no
   * connection is left.
   */
  readonly close: (deadline: number) => Promise<void>
}

/** In bytes and milliseconds. */
export interface ConnectionLimits {
  readonly maxHeaderSize: number
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  /** How often the timeouts are checked. */
  readonly connectionsCheckingInterval: number
}

/** A request has a minute for its headers and half an hour in total, because uploads and synchronous operations take long. */
const usualLimits: ConnectionLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 60_000,
  requestTimeout: 30 * 60_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 10_000,
}

const refusal = (reason: string): string => {
  const body = JSON.stringify({ error: reason })
  return `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}

/**
 * Bytes that are not an HTTP request get one short answer; statuses other than 400 would be misread. After requests that are still to be
 * answered, it would be taken for the answer to one of them: then the connection ends when they are answered.
 */
const answerBroken = (error: NodeJS.ErrnoException, socket: Socket, open: readonly ServerResponse[]): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const last = open.findLast(({ req, headersSent }) => req.complete || headersSent)
  if (last !== undefined) return void last.once("close", () => socket.destroySoon())
  const reason =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "Cannot read the request: its headers are too large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "Cannot read the request: it did not arrive in time"
        : "Cannot read the request: it is not valid HTTP"
  socket.end(refusal(reason))
}

const started = (server: Server, { host, port }: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => {
      server.off("error", reject)
      resolve()
    })
  })

/** Serves the app on one port; call it again for another one. Rejects with the system's error when it cannot listen. */
export const listen = async (app: HttpApp, options: ListenOptions): Promise<Listener> => {
  /** The answers of each open connection, without those whose last byte had been passed to the system when its latest request came. */
  const answers = new Map<Socket, readonly ServerResponse[]>()
  const openOn = (socket: Socket): readonly ServerResponse[] => (answers.get(socket) ?? []).filter(({ closed }) => !closed)
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    if (!answers.has(socket)) socket.once("close", () => answers.delete(socket))
    answers.set(socket, [...openOn(socket), response])
    app.handle(request, response)
  }
  const server = createServer({ ...usualLimits, ...options.limits, shouldUpgradeCallback: app.upgrades }, handle)
  server.on("clientError", (error, socket) => answerBroken(error, socket as Socket, openOn(socket as Socket)))
  // the server no longer tracks connections that it has handed over
  const upgraded = new Set<Duplex>()
  server.on("upgrade", (request, connection, head) => {
    upgraded.add(connection)
    connection.once("close", () => upgraded.delete(connection))
    app.upgrade(request, connection, head)
  })
  // an unknown expectation is ignored: node would answer 417, which clients misread
  server.on("checkExpectation", handle)
  const shared = options.tls === undefined ? undefined : sharePort(server, options.tls)
  await started(server, options)
  // without this listener, one connection that cannot be accepted would end the process
  server.on("error", options.onError ?? ((error) => process.emitWarning(error)))
  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    close: (deadline) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => {
          shared?.dropAll()
          server.closeAllConnections()
          for (const connection of upgraded) connection.destroy()
        }, deadline)
        // node counts a connection as idle as soon as its answer has been handed over, although slow readers have not got it yet
        const closeIdle = server.closeIdleConnections.bind(server)
        server.closeIdleConnections = () => {
          // one that waits for an earlier answer has no socket yet, and is closed with it
          const unread = [...answers.keys()].flatMap(openOn).find((one) => one.writableEnded && one.socket !== null)
          if (unread === undefined) closeIdle()
          else unread.once("close", () => server.closeIdleConnections())
        }
        app.stop()
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        shared?.dropSilent()
        server.closeIdleConnections()
      }),
  }
}
