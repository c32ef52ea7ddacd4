import type { RangeId, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Who did what. Written for every operation that changes something, even if it was refused to an authenticated caller. */
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
  /** `ok`, the tag of the fault, or `begun`. */
  readonly outcome: string
  readonly remote: string
}

/**
 * The outcome of an entry that was written together with a change, until the operation has ended. It stays if the process ended before
 * that, or the store could not record the outcome: the change was made, and what came after it is unknown.
 */
export const begun = "begun"

/** The audit entry of the operation in progress in this fiber. */
export interface AuditDraft {
  /** Identifies the entry: writing it again updates the same one. Not the request id, which senders choose. */
  readonly key: string
  /** The entry as far as it is known now. */
  readonly entry: (at: Date) => AuditEntry
  /** Set by the store once it has committed the entry. */
  kept: boolean
}

/**
 * The audited operation that writes in this fiber belong to; undefined if none. A store writes the entry in the same transaction as the
 * first change, so that neither exists without the other. Work that outlives its operation must not inherit it.
 */
export const CurrentAudit = Context.Reference<AuditDraft | undefined>("rangewright/CurrentAudit", {
  defaultValue: () => undefined,
})

/** A stored entry. */
export interface KeptAuditEntry extends AuditEntry {
  /** Increases with each entry. */
  readonly id: number
}

/** Selects entries; all given members must match. */
export interface AuditFilter {
  /** Older than the entry with this id: the next page. */
  readonly before?: number
  /** The caller, or the user acted as. */
  readonly user?: string
  readonly operation?: string
  readonly rangeId?: string
  readonly outcome?: string
  readonly remote?: string
  readonly since?: Date
  /** Exclusive. */
  readonly until?: Date
}

export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    /** If an entry with this draft key exists already, only its outcome changes. */
    readonly record: (entry: AuditEntry, key?: string) => Effect.Effect<void, StorageFault>
    /** Writes the entry of `CurrentAudit` now, unless it exists: needed before a change outside the store. */
    readonly begin: Effect.Effect<void, StorageFault>
    /** Newest first. */
    readonly list: (limit: number, filter?: AuditFilter) => Effect.Effect<readonly KeptAuditEntry[], StorageFault>
    /**
     * Keeps the entries of the days (in UTC) on which it was written last, this many; returns how many entries were deleted. Days without
     * entries do not count: so a clock that is far ahead for a while takes the place of one day, and deletes nothing else.
     */
    readonly prune: (days: number) => Effect.Effect<number, StorageFault>
  }
>()("rangewright/AuditTrail") {}
