import type { ByteChannel } from "@rangewright/ports"
import type * as Effect from "effect/Effect"

/** How a web socket was closed: a code of RFC 6455, and the reason in a few words. */
export interface SocketEnd {
  readonly code: number
  readonly reason: string
}

/** The session of a web socket, prepared before the socket exists. Exactly one of the two is run, once. */
export interface SocketSession {
  /** Runs until the session or the client ends; interrupted when the client disconnects or the service stops. */
  readonly serve: (client: ByteChannel) => Effect.Effect<SocketEnd>
  /** The client disconnected before there was a socket. */
  readonly abandon: Effect.Effect<void>
}
