import type { RangeId, RangeNotFound, UserId, UserNotFound, Vmid } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** The right to open one console once. The ticket itself is not stored. */
export interface ConsoleTicket {
  /** Hash of the ticket. */
  readonly hash: string
  /** Owner of the credentials that requested it. */
  readonly callerId: UserId
  /** The user acted as. */
  readonly userId: UserId
  readonly rangeId: RangeId
  readonly vmid: Vmid
  /** Origin of the page that requested it; undefined if the request named none. */
  readonly origin: string | undefined
  readonly expiresAt: Date
}

/** Unused tickets, shared by all instances of the service. */
export class ConsoleTickets extends Context.Service<
  ConsoleTickets,
  {
    /** Stores a ticket and deletes expired ones. Removed with its users and its range. */
    readonly issue: (ticket: ConsoleTicket) => Effect.Effect<void, UserNotFound | RangeNotFound | StorageFault>
    /** Returns and deletes the ticket, so that only one caller gets it; undefined for all others, and if it has expired. */
    readonly take: (hash: string) => Effect.Effect<ConsoleTicket | undefined, StorageFault>
  }
>()("rangewright/ConsoleTickets") {}
