import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { rfbSession } from "../screen/rfb.ts"
import type { Screen } from "../screen/screen.ts"
import type { SimResponse } from "./message.ts"

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

/** A console whose web socket may be opened. */
export interface OpenConsole {
  readonly type: "vncproxy" | "termproxy"
  /** The line that a terminal waits for before it sends anything, without its newline. */
  readonly login: string
  /** The password that a screen's viewer must know. */
  readonly password: string
  readonly screen: Screen
  /** Opens a screen other than the built-in one. */
  readonly attach?: (() => Promise<Duplex>) | undefined
  readonly onClose: () => void
}

/**
 * Opcodes that a client may send besides text and bytes. A console that ends drops the connection without a close frame, as the server's
 * proxy does.
 */
const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 } as const

const frame = (opcode: number, payload: Buffer = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10)
  head[0] = 0x80 | opcode
  head[1] = head.length === 2 ? payload.length : head.length === 4 ? 126 : 127
  if (head.length === 4) head.writeUInt16BE(payload.length, 2)
  if (head.length === 10) head.writeUIntBE(payload.length, 4, 6)
  return Buffer.concat([head, payload])
}

interface Frame {
  readonly opcode: number
  readonly payload: Buffer
  /** Length of the frame in bytes. */
  readonly size: number
}

/** The first (masked) frame of a client; undefined while it is incomplete. Terminals send no frames longer than 64 KiB. */
const firstFrame = (data: Buffer): Frame | undefined => {
  const short = (data[1] ?? 0) & 0x7f
  const head = short === 126 ? 4 : 2
  if (data.length < head + 4) return undefined
  const length = short === 126 ? data.readUInt16BE(2) : short
  const size = head + 4 + length
  if (data.length < size) return undefined
  const mask = data.subarray(head, head + 4)
  const payload = Buffer.from(data.subarray(head + 4, size).map((byte, i) => byte ^ mask[i % 4]!))
  return { opcode: data[0]! & 0x0f, payload, size }
}

const longest = 65_536

/** Relays another program's screen; the viewer's bytes wait until it is connected. */
const carry = (screen: Promise<Duplex>, socket: Duplex, write: (bytes: Buffer) => boolean, end: () => void) => {
  const connected = screen.then(
    (program) => {
      program.on("error", () => program.destroy())
      program.on("close", end)
      socket.on("close", () => program.destroy())
      if (socket.destroyed) program.destroy()
      socket.on("drain", () => program.resume())
      program.on("data", (bytes: Buffer) => {
        if (!write(bytes)) program.pause()
      })
      return program
    },
    () => end(),
  )
  return (payload: Buffer) => void connected.then((program) => program?.write(payload))
}

/**
 * Answers pings and the close, and shows the screen. A terminal answers `OK` to its ticket, and ends otherwise; there is no shell behind
 * it.
 */
const serve = (socket: Duplex, { type, login, password, screen, attach }: OpenConsole): void => {
  let waiting: Buffer = Buffer.alloc(0)
  let said = ""
  let isKnown = type === "vncproxy"
  const end = () => void socket.end()
  const write = (bytes: Buffer) => {
    // stop reading from a client that does not read what was sent
    if (!socket.write(frame(opcodes.binary, bytes)) && !socket.isPaused()) {
      socket.pause()
      socket.once("drain", () => socket.resume())
    }
  }
  const raw = (bytes: Buffer) => socket.write(frame(opcodes.binary, bytes))
  const picture = () => (attach === undefined ? rfbSession(screen, password, { write, end }) : carry(attach(), socket, raw, end))
  const show = isKnown ? picture() : undefined
  screen.closers.add(end)
  socket.on("close", () => screen.closers.delete(end))
  const take = ({ opcode, payload }: Frame): void => {
    if (opcode === opcodes.ping) socket.write(frame(opcodes.pong))
    if (opcode === opcodes.close) end()
    if (opcode > opcodes.binary) return
    if (show !== undefined) show(payload)
    if (isKnown) return
    said += payload.toString()
    if (!said.includes("\n")) return
    isKnown = said === `${login}\n`
    if (isKnown) socket.write(frame(opcodes.binary, Buffer.from("OK")))
    else end()
  }
  socket.on("data", (data: Buffer) => {
    waiting = Buffer.concat([waiting, data])
    for (let next = firstFrame(waiting); next !== undefined; next = firstFrame(waiting)) {
      waiting = waiting.subarray(next.size)
      take(next)
    }
    if (waiting.length > longest || said.length > longest) socket.destroy()
  })
}

/** Whether a request is for the web socket of a console. */
export const isConsole = (request: IncomingMessage): boolean => /\/vncwebsocket(?:\?|$)/.test(request.url ?? "")

/** Opens the web socket of a console after the API has checked its ticket. If there is nothing to show, it opens and ends without data. */
export const acceptConsole = async (
  request: IncomingMessage,
  socket: Duplex,
  check: () => Promise<SimResponse>,
  onOpen: (port: number) => OpenConsole | undefined,
): Promise<void> => {
  socket.on("error", () => socket.destroy())
  const answer = await check().catch(() => undefined)
  const key = request.headers["sec-websocket-key"]
  if (answer?.status !== 200 || key === undefined || !isConsole(request)) {
    socket.end(
      `HTTP/1.1 ${answer?.status ?? 400} ${answer?.reason.replaceAll(/[\r\n]/g, " ") ?? "Bad Request"}\r\nConnection: close\r\n\r\n`,
    )
    return
  }
  const accept = createHash("sha1")
    .update(key + GUID)
    .digest("base64")
  const protocol =
    request.headers["sec-websocket-protocol"]?.includes("binary") === true ? "Sec-WebSocket-Protocol: binary\r\n" : ""
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${protocol}\r\n`,
  )
  const console = onOpen(Number((JSON.parse(answer.body) as { data?: { port?: string } }).data?.port))
  if (console === undefined) {
    socket.end()
    return
  }
  socket.on("close", console.onClose)
  serve(socket, console)
}
