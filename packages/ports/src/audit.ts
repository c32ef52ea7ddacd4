import type { RangeId, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Who did what. Written for every operation that changes something, also when it was refused to somebody known. */
export interface AuditEntry {
  readonly at: Date
  readonly requestId: string
  /** Owner of the credentials; undefined for anonymous calls. */
  readonly callerId: UserId | undefined
  /** The user acted as. */
  readonly actingAs: UserId | undefined
  readonly operation: string
  readonly rangeId: RangeId | undefined
  /** Path parameters and other harmless facts; never a secret. */
  readonly detail: string
  /** How it ended: `ok`, the tag of the fault, or `begun`. */
  readonly outcome: string
  readonly remote: string
}

/**
 * The outcome of an entry that was written with a change, until the end of the operation is known. It stays where the process ended before,
 * or the store could not take the end: the change was made, and nobody knows what came after it.
 */
export const begun = "begun"

/** The operation that goes on in this fiber, as the audit trail tells of it. */
export interface AuditDraft {
  /** Tells its entry apart from all others: written again it is the same one. Not the request's id, which senders choose. */
  readonly key: string
  /** Its entry, as far as it is known now. */
  readonly entry: (at: Date) => AuditEntry
  /** Set by the store when it has committed the entry. */
  kept: boolean
}

/**
 * What the writes of this fiber are part of; undefined: of nothing that is audited. A store writes the entry in the same transaction as the
 * first change, so that neither is there without the other. Work that outlives its operation must not carry it on.
 */
export const CurrentAudit = Context.Reference<AuditDraft | undefined>("rangewright/CurrentAudit", {
  defaultValue: () => undefined,
})

/** An entry as it is kept. */
export interface KeptAuditEntry extends AuditEntry {
  /** Grows from entry to entry. */
  readonly id: number
}

/** Which entries are listed: those of which all that is given is true. */
export interface AuditFilter {
  /** Older than the entry of this id: the next page. */
  readonly before?: number
  /** Who did it, or as whom it was done. */
  readonly user?: string
  readonly operation?: string
  readonly rangeId?: string
  readonly outcome?: string
  readonly remote?: string
  readonly since?: Date
  /** Not the time itself. */
  readonly until?: Date
}

export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    /** With the key of a draft whose entry is there already, only the outcome changes. */
    readonly record: (entry: AuditEntry, key?: string) => Effect.Effect<void, StorageFault>
    /** Writes the entry of `CurrentAudit` now, unless it is there: before a change that is not the store's. */
    readonly begin: Effect.Effect<void, StorageFault>
    /** Newest first. */
    readonly list: (limit: number, filter?: AuditFilter) => Effect.Effect<readonly KeptAuditEntry[], StorageFault>
    readonly prune: (before: Date) => Effect.Effect<number, StorageFault>
  }
>()("rangewright/AuditTrail") {}
