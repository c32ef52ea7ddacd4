import type { RangeId, RangeNotFound, UserId, UserNotFound, Vmid } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** The right to open one console once. The ticket itself is kept nowhere. */
export interface ConsoleTicket {
  /** Of the ticket's text. */
  readonly hash: string
  /** Owner of the credentials that it was given for. */
  readonly callerId: UserId
  /** The user acted as. */
  readonly userId: UserId
  readonly rangeId: RangeId
  readonly vmid: Vmid
  /** Of the page that asked for it; undefined: no page said so. */
  readonly origin: string | undefined
  readonly expiresAt: Date
}

/** Tickets that nobody has used yet, for every instance of the service. */
export class ConsoleTickets extends Context.Service<
  ConsoleTickets,
  {
    /** Keeps a ticket, and forgets those that have expired. It goes with its users and its range. */
    readonly issue: (ticket: ConsoleTicket) => Effect.Effect<void, UserNotFound | RangeNotFound | StorageFault>
    /** The ticket, to one of all who ask; undefined for everybody else, and when it has expired. */
    readonly take: (hash: string) => Effect.Effect<ConsoleTicket | undefined, StorageFault>
  }
>()("rangewright/ConsoleTickets") {}
