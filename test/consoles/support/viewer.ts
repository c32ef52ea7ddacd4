import { vncAnswer } from "@rangewright/adapter-crypto"
import { once } from "node:events"
import { WebSocket } from "ws"

/** How a WebSocket ended: its close code and reason. */
export interface Ended {
  readonly code: number
  readonly reason: string
}

/** A viewer of a console, byte by byte. */
export interface Viewer {
  readonly socket: WebSocket
  /** The next bytes; fails when the WebSocket closes before. */
  readonly take: (count: number) => Promise<Buffer>
  readonly ended: Promise<Ended>
  /** Bytes received, whether or not they were read. */
  readonly received: () => number
}

/** Opens the WebSocket. Fails with the status if it is refused. */
export const connect = async (
  url: string,
  {
    origin,
    protocols = [],
    ca,
  }: { readonly origin?: string; readonly protocols?: string[]; readonly ca?: { readonly rejectUnauthorized: boolean } } = {},
): Promise<Viewer> => {
  const socket = new WebSocket(url.replace(/^http/u, "ws"), protocols, {
    perMessageDeflate: false,
    ...(origin === undefined ? {} : { origin }),
    ...ca,
  })
  let held: Buffer = Buffer.alloc(0)
  let count = 0
  let isOver = false
  let wake: () => void = () => undefined
  socket.on("message", (data) => {
    held = Buffer.concat([held, data as Buffer])
    count += (data as Buffer).length
    wake()
  })
  const ended = new Promise<Ended>((resolve) =>
    socket.on("close", (code, reason) => {
      isOver = true
      wake()
      resolve({ code, reason: String(reason) })
    }),
  )
  await once(socket, "open")
  socket.on("error", () => undefined)
  const take = async (wanted: number): Promise<Buffer> => {
    while (held.length < wanted) {
      if (isOver) throw new Error(`the socket closed after ${held.length} of ${wanted} bytes`)
      await new Promise<void>((resolve) => (wake = resolve))
    }
    const taken = held.subarray(0, wanted)
    held = held.subarray(wanted)
    return taken
  }
  return { socket, take, ended, received: () => count }
}

/** Logs in; returns the result of the server's security handshake, 0 for a right password. */
export const logIn = async ({ socket, take }: Viewer, password: string): Promise<number> => {
  const greeting = await take(12)
  if (greeting.toString() !== "RFB 003.008\n") throw new Error(`that is no RFB: ${greeting.toString()}`)
  socket.send(greeting)
  const types = await take(2)
  if (types[1] !== 2) throw new Error("no password is asked for")
  socket.send(Buffer.from([2]))
  socket.send(vncAnswer(password, await take(16)))
  return (await take(4)).readUInt32BE(0)
}

/** The first message after the login; returns the name of the screen. */
export const screenName = async ({ socket, take }: Viewer): Promise<string> => {
  socket.send(Buffer.from([1]))
  return (await take((await take(24)).readUInt32BE(20))).toString()
}
