import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import type { SimResponse } from "./message.ts"

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

/** The greeting of a VNC server; a viewer that reads it knows that it is connected. */
const GREETING = Buffer.from("RFB 003.008\n")

const frame = (opcode: number, payload: Buffer): Buffer => Buffer.concat([Buffer.from([0x80 | opcode, payload.length]), payload])

/**
 * Opens the socket of a console after the API has checked its ticket. It greets as a VNC server and answers pings and
 * the close; there is no screen behind it.
 */
export const acceptConsole = async (
  request: IncomingMessage,
  socket: Duplex,
  check: () => Promise<SimResponse>,
  onOpen: (port: number) => void,
): Promise<void> => {
  socket.on("error", () => socket.destroy())
  const answer = await check().catch(() => undefined)
  const key = request.headers["sec-websocket-key"]
  const isConsole = /\/vncwebsocket(?:\?|$)/.test(request.url ?? "")
  if (answer?.status !== 200 || key === undefined || !isConsole) {
    socket.end(
      `HTTP/1.1 ${answer?.status ?? 400} ${answer?.reason.replaceAll(/[\r\n]/g, " ") ?? "Bad Request"}\r\nConnection: close\r\n\r\n`,
    )
    return
  }
  onOpen(Number((JSON.parse(answer.body) as { data?: { port?: string } }).data?.port))
  const accept = createHash("sha1")
    .update(key + GUID)
    .digest("base64")
  const protocol =
    request.headers["sec-websocket-protocol"]?.includes("binary") === true ? "Sec-WebSocket-Protocol: binary\r\n" : ""
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${protocol}\r\n`,
  )
  socket.write(frame(2, GREETING))
  socket.on("data", (data: Buffer) => {
    const opcode = (data[0] ?? 0) & 0x0f
    if (opcode === 9) socket.write(frame(10, Buffer.alloc(0)))
    if (opcode === 8) socket.end(frame(8, Buffer.alloc(0)))
  })
}
