import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** A wire to a port of this machine that can be cut and mended; it carries bytes and knows nothing of them. */
export interface Relay {
  readonly port: number
  /** Breaks all connections and refuses new ones. */
  readonly cut: () => void
  readonly mend: () => void
  readonly close: () => void
}

export const openRelay = async (target: number): Promise<Relay> => {
  const sockets = new Set<Socket>()
  let whole = true
  const server = createServer((from) => {
    if (!whole) return void from.destroy()
    const to = connect(target, "127.0.0.1")
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      whole = false
      sockets.forEach((socket) => socket.destroy())
    },
    mend: () => (whole = true),
    close: () => {
      sockets.forEach((socket) => socket.destroy())
      server.close()
    },
  }
}
