import { connect } from "node:net"
import type { Duplex } from "node:stream"

/** Connects to an address and port; fails when nothing answers there. */
export type Dial = (address: string, port: number) => Promise<Duplex>

const longestMillis = 30_000

/** From the service's host, over its own routes. */
export const dialDirectly: Dial = (address, port) =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true, keepAlive: true, allowHalfOpen: true })
    const stop = (error: Error): void => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(longestMillis, () => stop(new Error("it does not answer")))
    // and from then on: the other side may close it before anybody else listens
    socket.on("error", stop)
    socket.once("connect", () => {
      socket.setTimeout(0)
      resolve(socket)
    })
  })
