import { createServer as createHttpServer, METHODS, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createHttpsServer } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import { type Duplex, duplexPair } from "node:stream"
import type { SimClock } from "../core/clock.ts"
import type { Certificate } from "./certificate.ts"
import { bodyReader } from "./body.ts"
import { ConnectionReset } from "./handle.ts"
import { textResponse, type SimRequest, type SimResponse } from "./message.ts"
import { isUpload, readUpload } from "./upload.ts"
import { acceptConsole, isConsole, type OpenConsole } from "./websocket.ts"

/** An open port. */
export interface Listener {
  readonly host: string
  readonly port: number
  /** Stops accepting requests and closes open connections. */
  readonly close: () => Promise<void>
}

const toRequest = (request: IncomingMessage, body: Buffer): SimRequest => {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value
  }
  return { method: request.method ?? "GET", path: request.url ?? "/", headers, ...(body.length > 0 ? { body } : {}) }
}

/** A phrase that is safe in a status line. */
const phrase = (text: string): string => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "?").slice(0, 1000)

const headersOf = (answer: SimResponse, isLast: boolean): Record<string, string> => ({
  ...answer.headers,
  ...(isLast ? { connection: "close" } : {}),
  "content-length": String(Buffer.byteLength(answer.body)),
})

const write = (response: ServerResponse, answer: SimResponse, isLast: boolean): void => {
  response.writeHead(answer.status, phrase(answer.reason), headersOf(answer, isLast))
  response.end(answer.body)
}

/** Answers bytes that Node could not parse as a request. */
const writeRaw = (socket: Duplex, answer: SimResponse): void => {
  const lines = Object.entries(headersOf(answer, true)).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${answer.status} ${phrase(answer.reason)}\r\n${lines.join("")}\r\n${answer.body}`, "latin1")
}

/** What a server serves. */
export interface Served {
  readonly handle: (request: SimRequest) => Promise<SimResponse>
  readonly onConsole: (port: number) => OpenConsole | undefined
  readonly clock: SimClock
  /** How long a client may be silent in the middle of a request, in real milliseconds. Default: 5 s. */
  readonly patience?: number
}

/** Maximum of open connections: three workers with 500 each. */
const maxConnections = 1500
/** Maximum of requests on one connection. */
const maxRequests = 100
/** A request whose header lines (including the empty one) or bytes reach these numbers gets no answer. */
const maxHeaderLines = 64
const maxHeaderBytes = 8192
/** How long an idle connection stays open. */
const idle = 5000

const hasTooManyHeaders = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.length / 2 + 1 >= maxHeaderLines ||
  rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0) >= maxHeaderBytes

/** Whether the connection ends after the answer: the client requests it or, with HTTP/1.0, does not request keep-alive. */
const asksForEnd = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.connection === undefined ? httpVersion === "1.0" : /close/iu.test(headers.connection)

const plain = (now: number, status: number, text: string): SimResponse => textResponse(now, status, text, text)

/** The answer to a request line without a version, or with an unsupported one. */
const otherVersion = (now: number, version: string): SimResponse =>
  version === "0.9" ? plain(now, 400, "bad request") : plain(now, 506, `http protocol version ${version} not supported`)

/** The answer to bytes that are not a request; the first line is checked before the headers. */
const unreadable = (now: number, packet: string): SimResponse => {
  const [, method, version = ""] = /^[\r\n]*(\S+) \S+ HTTP\/(\d+\.\d+)\r?\n/u.exec(packet) ?? []
  if (method === undefined) return plain(now, 400, "bad request")
  if (!version.startsWith("1.")) return otherVersion(now, version)
  if (!METHODS.includes(method)) return textResponse(now, 501, `method '${method.slice(0, 32)}' not available`)
  return plain(now, 506, "unable to parse request header")
}

const serverOf = (options: Served, certificate: Certificate | undefined) => {
  const { clock, handle, onConsole } = options
  const served = new WeakMap<Duplex, number>()
  const patience = options.patience ?? idle
  const readBody = bodyReader(patience)
  /** Reads what a client sends, with a timeout for silence. In-process connections have no timeout. */
  const watched = async <A>({ socket }: { readonly socket: Partial<Socket> }, read: () => Promise<A>): Promise<A> => {
    socket.setTimeout?.(patience)
    try {
      return await read()
    } finally {
      socket.setTimeout?.(0)
    }
  }
  const closeLater = (socket: Duplex) => void clock.schedule(idle, () => socket.destroy())
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const count = (served.get(request.socket) ?? 0) + 1
    // requests after the last one that is answered have no effect
    if (count > maxRequests) return void request.socket.pause()
    const isRefused = hasTooManyHeaders(request)
    served.set(request.socket, isRefused ? maxRequests : count)
    if (isRefused) return closeLater(request.socket)
    if (request.httpVersionMajor !== 1) return write(response, otherVersion(clock.now(), request.httpVersion), true)
    try {
      const sent = isUpload(request)
        ? { ...toRequest(request, Buffer.alloc(0)), upload: () => watched(request, () => readUpload(request)) }
        : toRequest(request, await watched(request, () => readBody(request)))
      write(response, await handle(sent), count >= maxRequests || asksForEnd(request))
      // discards an upload that no handler read
      request.resume()
    } catch (error) {
      // a dropped connection is a valid answer; the message of any other error must not reach the caller
      if (!(error instanceof ConnectionReset)) response.statusCode = 500
      request.socket.destroy()
    }
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse) => void serve(request, response)
  const settings = {
    keepAliveTimeout: idle,
    headersTimeout: patience,
    // uploads may take any time
    requestTimeout: 0,
    connectionsCheckingInterval: Math.ceil(patience / 5),
    maxHeaderSize: 65_536,
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) => isConsole(request),
  }
  const server =
    certificate === undefined
      ? createHttpServer(settings, onRequest)
      : createHttpsServer({ ...settings, handshakeTimeout: patience, key: certificate.key, cert: certificate.cert }, onRequest)
  server.maxConnections = maxConnections
  server.on(
    "upgrade",
    (request: IncomingMessage, socket) =>
      void acceptConsole(request, socket, () => handle(toRequest(request, Buffer.alloc(0))), onConsole),
  )
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    socket.on("error", () => socket.destroy())
    void handle(toRequest(request, Buffer.alloc(0))).then((answer) => writeRaw(socket, answer))
  })
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    if (!socket.writable || error.rawPacket === undefined) socket.destroy()
    else if (error.code === "HPE_HEADER_OVERFLOW") closeLater(socket)
    else writeRaw(socket, unreadable(clock.now(), error.rawPacket.toString("latin1")))
  })
  return server
}

/** Opens connections without a network: each call returns the client's side of one, in plain HTTP. */
export const connector = (served: Served): (() => Duplex) => {
  const server = serverOf(served, undefined)
  return () => {
    const [client, ours] = duplexPair()
    server.emit("connection", ours)
    return client
  }
}

/** Serves `handle` on a port (0: any free one) with TLS if a certificate is given. */
export const listen = async (
  options: Served & { readonly host: string; readonly port: number; readonly certificate: Certificate | undefined },
): Promise<Listener> => {
  const server = serverOf(options, options.certificate)
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port, options.host, () => {
      server.off("error", reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  return {
    host: options.host,
    port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
