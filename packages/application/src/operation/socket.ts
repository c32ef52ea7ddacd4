import type { ByteChannel } from "@rangewright/ports"
import type * as Effect from "effect/Effect"

/** How a web socket was closed: a code of RFC 6455, and the reason in a few words. */
export interface SocketEnd {
  readonly code: number
  readonly reason: string
}

/** What a web socket carries, held ready until the socket is there. Exactly one of the two is run, once. */
export interface SocketSession {
  /** Works until the session or the client ends; interrupted when the client goes or the service stops. */
  readonly serve: (client: ByteChannel) => Effect.Effect<SocketEnd>
  /** The client went before there was a socket. */
  readonly abandon: Effect.Effect<void>
}
