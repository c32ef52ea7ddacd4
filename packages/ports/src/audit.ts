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
  readonly outcome: string
  readonly remote: string
}

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
    readonly record: (entry: AuditEntry) => Effect.Effect<void, StorageFault>
    /** Newest first. */
    readonly list: (limit: number, filter?: AuditFilter) => Effect.Effect<readonly KeptAuditEntry[], StorageFault>
    readonly prune: (before: Date) => Effect.Effect<number, StorageFault>
  }
>()("rangewright/AuditTrail") {}
