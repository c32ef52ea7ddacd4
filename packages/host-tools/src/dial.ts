import { connect } from "node:net"
import type { Duplex } from "node:stream"

/** Connects to an address and port; rejects when nothing answers. */
export type Dial = (address: string, port: number) => Promise<Duplex>

const longestMillis = 30_000

/** Connects from the service's host over its own routes. */
export const dialDirectly: Dial = (address, port) =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true, keepAlive: true, allowHalfOpen: true })
    const stop = (error: Error): void => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(longestMillis, () => stop(new Error("it does not answer")))
    // stays attached: the other side may close the socket before the caller listens
    socket.on("error", stop)
    socket.once("connect", () => {
      socket.setTimeout(0)
      resolve(socket)
    })
  })
