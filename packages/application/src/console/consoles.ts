import type { Fault, User, Vmid } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Page, RequestMeta } from "../operation/request-meta.ts"
import type { SocketSession } from "../operation/socket.ts"

/** Who asks for the console of which machine. */
export interface ConsoleAsked {
  /** Owner of the credentials. */
  readonly caller: User
  /** The user acted as. */
  readonly user: User
  readonly vmid: Vmid
  readonly page: Page | undefined
}

/** The consoles of machines, for operations: who may open which, and those that are open in this process. */
export class Consoles extends Context.Service<
  Consoles,
  {
    /** The right to open a console once, within half a minute, and the password that the viewer has to know. */
    readonly ticket: (asked: ConsoleAsked) => Effect.Effect<{ readonly ticket: string; readonly password: string }, Fault>
    /** Uses the ticket up and connects to the machine's screen; what is returned carries it to the viewer. */
    readonly view: (ticket: string, meta: RequestMeta) => Effect.Effect<SocketSession, Fault>
    /** How many are open. */
    readonly open: () => number
  }
>()("rangewright/Consoles") {}
