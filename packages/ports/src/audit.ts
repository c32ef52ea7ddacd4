import type { RangeId, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Who did what. Written for every operation that changes something, also when it was refused. */
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

export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    readonly record: (entry: AuditEntry) => Effect.Effect<void, StorageFault>
    /** Newest first. */
    readonly list: (limit: number) => Effect.Effect<readonly AuditEntry[], StorageFault>
    readonly prune: (before: Date) => Effect.Effect<number, StorageFault>
  }
>()("rangewright/AuditTrail") {}
