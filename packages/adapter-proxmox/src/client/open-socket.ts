import type { Agent } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocket } from "ws"
import type { PveRequest } from "./transport.ts"

/** The hypervisor sends a screen in chunks of a few kilobytes. */
const largestFrame = 1024 * 1024

/** Starts opening a web socket as the hypervisor's proxy expects it, over an HTTP agent or a single connection. */
export const openSocket = (
  place: URL,
  headers: PveRequest["headers"],
  way: { readonly agent: Agent } | { readonly createConnection: () => Duplex },
): WebSocket => {
  const url = new URL(place)
  url.protocol = place.protocol === "http:" ? "ws:" : "wss:"
  return new WebSocket(url, ["binary"], {
    headers,
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: largestFrame,
    handshakeTimeout: 10_000,
    ...(way as object),
  })
}
