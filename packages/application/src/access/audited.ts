import { type Fault, isFault } from "@rangewright/domain"
import { type AuditDraft, type AuditEntry, AuditTrail, begun, CurrentAudit, type StorageFault } from "@rangewright/ports"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** An audit entry without its time and outcome. */
export type Told = Omit<AuditEntry, "at" | "outcome">

const outcomeOf = (exit: Exit.Exit<unknown, Fault>): string => {
  if (Exit.isSuccess(exit)) return "ok"
  const failure = Cause.squash(exit.cause)
  if (isFault(failure)) return failure._tag
  return Cause.hasInterruptsOnly(exit.cause) ? "interrupted" : "defect"
}

const conclude = Effect.fnUntraced(function* (
  draft: AuditDraft,
  exit: Exit.Exit<unknown, Fault>,
): Effect.fn.Return<void, StorageFault, AuditTrail> {
  const trail = yield* AuditTrail
  const at = new Date(yield* Clock.currentTimeMillis)
  const entry = { ...draft.entry(at), outcome: outcomeOf(exit) }
  yield* trail.record(entry, draft.key).pipe(
    // a change already has its entry, and a refusal changed nothing: the answer holds without this one. A success without any entry fails
    Effect.catchIf(
      () => draft.kept || Exit.isFailure(exit),
      ({ message }) => Effect.logError(message, entry),
    ),
  )
})

/**
 * Runs work that leaves one audit entry. The store writes the entry with the first change that the work makes, so no change goes without
 * one. The outcome is added at the end; when nothing was changed, the whole entry is written then. `told` is called each time. `key`
 * identifies the entry.
 */
export const audited = <A, E extends Fault, R>(
  key: string,
  told: () => Told,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageFault, R | AuditTrail> => {
  const draft: AuditDraft = { key, entry: (at) => ({ ...told(), at, outcome: begun }), kept: false }
  return Effect.onExit(Effect.provideService(work, CurrentAudit, draft), (exit) => conclude(draft, exit))
}
