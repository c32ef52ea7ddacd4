import { type ByteChannel, byteChannel, type SocketSession } from "@rangewright/application"
import { InvalidInput, withoutTrailing } from "@rangewright/domain"
import * as Exit from "effect/Exit"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { exitOf, type OpenStreams } from "../exit-of.ts"
import type { HttpOptions } from "../options.ts"

/** A connection whose request asks for a web socket. */
export interface Upgrade {
  readonly connection: Duplex
  /** Bytes received after the request. */
  readonly head: Buffer
  /** Called once it is decided whether there will be a socket. */
  readonly settled: () => void
}

/** Longest frame and message from a client: keys and clipboard contents are far shorter. */
const longestMessage = 1024 * 1024

/** Close codes of RFC 6455, 7.4.1. */
const codes = { goingAway: 1001, notBinary: 1003, failed: 1011 } as const

/** A reason has at most 123 bytes on the wire. */
const shortened = (reason: string): string => withoutTrailing(Buffer.from(reason).subarray(0, 120).toString("utf8"), "\uFFFD")

/** Throws `InvalidInput` for a request that does not ask for a web socket according to RFC 6455. */
export const checkUpgrade = ({ headers }: IncomingMessage, upgrade: Upgrade | undefined): Upgrade => {
  const isSocket =
    upgrade !== undefined &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    headers["sec-websocket-version"] === "13" &&
    /^[+/0-9A-Za-z]{22}==$/u.test(headers["sec-websocket-key"] ?? "")
  if (isSocket) return upgrade
  throw new InvalidInput({
    what: "Cannot answer: this address opens a web socket, which the request does not ask for",
    hint: "Connect with a client for web sockets (wss://…), such as noVNC; proxies in between must forward WebSocket upgrades.",
  })
}

const servers = new Map<string, WebSocketServer>()
/** Accepts the one subprotocol, or none when none is requested; a client that requests only others gets none. */
const serverFor = (protocol: string): WebSocketServer => {
  const made =
    servers.get(protocol) ??
    new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // screen data is already compressed, and deflating costs memory for each client
      perMessageDeflate: false,
      maxPayload: longestMessage,
      handleProtocols: (asked) => (asked.has(protocol) ? protocol : false),
    })
  servers.set(protocol, made)
  return made
}

/** A web socket with its byte channel. */
interface Accepted {
  readonly socket: WebSocket
  readonly channel: ByteChannel
  readonly ended: () => void
}

/** Listens from the first byte on, since data that came with the request is emitted before anybody could wait for it. */
const listenTo = (socket: WebSocket, farewell: number): Accepted => {
  const { channel, arrived, ended } = byteChannel({
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    write: (bytes, written) => socket.send(bytes, { binary: true }, () => written()),
  })
  socket.on("message", (data, isBinary) => {
    if (isBinary) arrived(data as Buffer)
    else closeWith(socket, codes.notBinary, "only binary frames are supported", farewell)
  })
  // protocol violations close the socket with the matching code
  socket.on("error", () => undefined)
  return { socket, channel, ended }
}

/** Accepts the web socket; undefined when the client has gone. */
const accept = (
  request: IncomingMessage,
  { connection, head }: Upgrade,
  protocol: string,
  farewell: number,
): Promise<Accepted | undefined> =>
  new Promise((resolve) => {
    connection.once("close", () => resolve(undefined))
    if (connection.destroyed) return resolve(undefined)
    serverFor(protocol).handleUpgrade(request, connection, head, (socket) => resolve(listenTo(socket, farewell)))
  })

/** Pings an idle client, and drops one that has not answered the previous ping. */
const keepAlive = (socket: WebSocket, every: number): void => {
  let isThere = true
  socket.on("pong", () => (isThere = true))
  const beat = setInterval(() => {
    if (!isThere) return socket.terminate()
    isThere = false
    socket.ping()
  }, every)
  socket.once("close", () => clearInterval(beat))
}

/** Closes with this code; a client that does not answer in time is cut off. */
const closeWith = (socket: WebSocket, code: number, reason: string, patience: number): void => {
  const cut = setTimeout(() => socket.terminate(), patience)
  socket.once("close", () => clearTimeout(cut))
  socket.close(code, shortened(reason))
}

/**
 * Opens the requested web socket only to close it with this reason: a script learns nothing else of why a socket was not opened. `status`:
 * of the answer to anybody else, for the log.
 */
export const refuseSocket = async (
  request: IncomingMessage,
  response: ServerResponse,
  upgrade: Upgrade,
  protocol: string,
  { reason, status, farewell }: { readonly reason: string; readonly status: number; readonly farewell: number },
): Promise<void> => {
  upgrade.settled()
  response.detachSocket(upgrade.connection as never)
  response.statusCode = status
  const accepted = await accept(request, upgrade, protocol, farewell)
  if (accepted !== undefined) closeWith(accepted.socket, codes.failed, reason, farewell)
}

/**
 * Opens the requested web socket and lets the session serve it until the session ends, the client disconnects, or the service stops (1001).
 * Waits for slow readers; never buffers more than a few frames. Resolves when the connection is closed.
 */
export const serveSocket = async (
  request: IncomingMessage,
  response: ServerResponse,
  upgrade: Upgrade,
  protocol: string,
  session: SocketSession,
  { run, sockets }: Pick<HttpOptions, "run" | "sockets">,
  open: OpenStreams,
): Promise<Exit.Exit<unknown, unknown>> => {
  upgrade.settled()
  response.detachSocket(upgrade.connection as never)
  const accepted = await accept(request, upgrade, protocol, sockets.farewell)
  if (accepted === undefined) {
    response.statusCode = 400
    return exitOf(run(session.abandon))
  }
  const { socket, channel, ended } = accepted
  response.statusCode = 101
  const closed = new Promise<void>((resolve) => {
    if (socket.readyState === socket.CLOSED) resolve()
    else socket.once("close", () => resolve())
  })
  keepAlive(socket, sockets.ping)
  const fiber = run(session.serve(channel))
  const leave = () => {
    ended()
    fiber.interruptUnsafe()
  }
  void closed.then(leave)
  const stop = () => {
    closeWith(socket, codes.goingAway, "the service is stopping", sockets.farewell)
    fiber.interruptUnsafe()
  }
  open.add(stop)
  const exit = await exitOf(fiber)
  if (Exit.isSuccess(exit)) closeWith(socket, exit.value.code, exit.value.reason, sockets.farewell)
  else if (socket.readyState === socket.OPEN) closeWith(socket, codes.failed, "the session failed", sockets.farewell)
  // while paused by back-pressure it would not see the client's close
  socket.resume()
  await closed
  open.remove(stop)
  return exit
}
