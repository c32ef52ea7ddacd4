import { type AuditDraft, type AuditEntry, CurrentAudit } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { auditEntries } from "../records/audit-entry.ts"
import type { QueryFailed, Transaction } from "./transaction.ts"

/** Writes an entry. If one with the key of its draft exists, only its outcome is updated; with `first`, nothing is. */
export const writeEntry = (tx: Transaction, entry: AuditEntry, key?: string, { first = false } = {}) =>
  tx((db) =>
    db
      .insertInto("audit_entries")
      .values(auditEntries.write({ ...entry, draft: key }))
      .onConflict((conflict) => {
        const there = conflict.column("draft")
        return first ? there.doNothing() : there.doUpdateSet({ outcome: entry.outcome })
      })
      .execute(),
  )

const writeDraft = (tx: Transaction, draft: AuditDraft) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => writeEntry(tx, draft.entry(new Date(now)), draft.key, { first: true }))

/**
 * A transaction that also writes the audit entry of its operation, unless an earlier one has committed it. The entry comes last: a failure
 * before it leaves none, and a transaction waiting for another one of the same operation holds no locks that the other needs.
 */
export const audited = <A, E, F>(
  body: (tx: Transaction) => Effect.Effect<A, E>,
  transaction: (body: (tx: Transaction) => Effect.Effect<A, E | QueryFailed>) => Effect.Effect<A, F>,
): Effect.Effect<A, F> =>
  Effect.flatMap(CurrentAudit, (draft) => {
    if (draft === undefined || draft.kept) return transaction(body)
    return Effect.tap(
      transaction((tx) => Effect.tap(body(tx), () => writeDraft(tx, draft))),
      () => Effect.sync(() => (draft.kept = true)),
    )
  })
