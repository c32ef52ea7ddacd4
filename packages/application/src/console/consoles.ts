import type { Fault, User, Vmid } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Page, RequestMeta } from "../operation/request-meta.ts"
import type { SocketSession } from "../operation/socket.ts"

/** A request for the console of a machine. */
export interface ConsoleAsked {
  /** Owner of the credentials. */
  readonly caller: User
  /** The user acted as. */
  readonly user: User
  readonly vmid: Vmid
  readonly page: Page | undefined
}

/** The consoles of machines, for operations: checks who may open which, and tracks those that are open in this process. */
export class Consoles extends Context.Service<
  Consoles,
  {
    /** A ticket to open a console once, within half a minute, and the password that the viewer has to know. */
    readonly ticket: (asked: ConsoleAsked) => Effect.Effect<{ readonly ticket: string; readonly password: string }, Fault>
    /** Consumes the ticket and connects to the machine's screen; the result relays it to the viewer. */
    readonly view: (ticket: string, meta: RequestMeta) => Effect.Effect<SocketSession, Fault>
    /** The number of open consoles. */
    readonly open: () => number
  }
>()("rangewright/Consoles") {}
