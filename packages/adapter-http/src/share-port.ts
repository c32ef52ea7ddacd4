import type { Server } from "node:http"
import type { Socket } from "node:net"
import { createServer, type TLSSocket } from "node:tls"

/** Certificate chain and private key, PEM. */
export interface TlsPair {
  readonly cert: string
  readonly key: string
}

/** First byte of a TLS handshake record. */
const handshake = 0x16
/** Milliseconds for the first byte, and again for the handshake. */
const patience = 30_000

const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && (address === "::1" || /^(?:::ffff:)?127\./u.test(address))

/** The first sentence is the one that existing clients recognise and explain. */
const plainRefused =
  "Client sent an HTTP request to an HTTPS server.\nUse https:// with this port; plain HTTP is for this machine itself.\n"
const refusal = `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${plainRefused.length}\r\nConnection: close\r\n\r\n${plainRefused}`

/** Milliseconds for a refused client to read the reason. */
const farewell = 5_000

/** Whatever the client still sends is discarded, so that its end is noticed and the refusal is not lost. */
const refuse = (socket: Socket): void => {
  const cut = setTimeout(() => socket.destroy(), farewell)
  socket.once("close", () => clearTimeout(cut))
  socket.on("error", () => socket.destroy())
  socket.end(refusal)
  socket.resume()
}

/**
 * Makes an HTTP server speak TLS and, for this machine only, plain HTTP on one port: the first byte of a connection tells them apart. TLS
 * connections become connections of the same server, so that its limits and its closing apply to both kinds.
 */
export const sharePort = (
  server: Server,
  pair: TlsPair,
): {
  /** Closes connections that have not sent a byte. */
  readonly dropSilent: () => void
  /** Closes every connection, even in the middle of a handshake. */
  readonly dropAll: () => void
} => {
  const serve = server.listeners("connection")[0] as (this: Server, socket: Socket | TLSSocket) => void
  const tls = createServer({ ...pair, ALPNProtocols: ["http/1.1"], handshakeTimeout: patience })
  const silent = new Set<Socket>()
  const all = new Set<Socket>()
  tls.on("secureConnection", (socket) => serve.call(server, socket))
  // scanners and clients that reject the certificate: nobody to report to
  tls.on("tlsClientError", (_error, socket) => socket.destroy())

  const decide = (socket: Socket, first: Buffer): void => {
    socket.unshift(first)
    if (first[0] === handshake) {
      // an HTTP server lets a peer close its half; during a handshake that would leave a dead connection open
      socket.allowHalfOpen = false
      return void tls.emit("connection", socket)
    }
    if (isLoopback(socket.remoteAddress)) return serve.call(server, socket)
    refuse(socket)
  }

  server.removeAllListeners("connection")
  server.on("connection", (socket: Socket) => {
    const drop = () => socket.destroy()
    const settled = () => {
      silent.delete(socket)
      socket.setTimeout(0).off("timeout", drop).off("error", drop).off("close", settled)
    }
    silent.add(socket)
    all.add(socket)
    socket.once("close", () => all.delete(socket))
    socket.setTimeout(patience)
    socket.on("timeout", drop).on("error", drop).on("close", settled)
    const peek = () => {
      const first = socket.read() as Buffer | null
      if (first === null) return void socket.once("readable", peek)
      settled()
      decide(socket, first)
    }
    socket.once("readable", peek)
  })
  const drop = (sockets: ReadonlySet<Socket>) => sockets.forEach((socket) => socket.destroy())
  return { dropSilent: () => drop(silent), dropAll: () => drop(all) }
}
