import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A connection to a local port that can be cut and restored; it passes bytes unchanged. */
export interface Relay {
  readonly port: number
  /** Breaks all connections and refuses new ones. */
  readonly cut: () => void
  /** Accepts bytes and connections and passes nothing on, like a machine that hangs. */
  readonly stall: () => void
  /** New connections work from now on; stalled ones stay stalled. */
  readonly restore: () => void
  readonly close: () => void
}

export const openRelay = async (target: number): Promise<Relay> => {
  const sockets = new Set<Socket>()
  let state: "whole" | "cut" | "stalled" = "whole"
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket))
  }
  const server = createServer((from) => {
    if (state === "cut") return void from.destroy()
    if (state === "stalled") return void keep(from).resume()
    const to = connect(target, "127.0.0.1")
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      keep(one).pipe(other)
      one.on("close", () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      state = "cut"
      sockets.forEach((socket) => socket.destroy())
    },
    stall: () => {
      state = "stalled"
      sockets.forEach((socket) => socket.unpipe().resume())
    },
    restore: () => (state = "whole"),
    close: () => {
      sockets.forEach((socket) => socket.destroy())
      server.close()
    },
  }
}
