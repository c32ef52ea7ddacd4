import { type Blueprint, holderOfBundle, type RecordId, type RunSubject } from "@rangewright/domain"
import { ContentFetcher, RunJournal, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** A blueprint as the subject of runs. Identified by its record: a blueprint created again under an old ID is another one. */
export const blueprintSubject = ({ recordId }: Pick<Blueprint, "recordId">): RunSubject => ({ type: "blueprint", id: recordId })

/** Releases the snapshots of a blueprint that was deleted or never created. A failure to release only costs space. */
export const releaseBundles = (recordId: RecordId): Effect.Effect<void, never, ContentFetcher> =>
  Effect.gen(function* () {
    const content = yield* ContentFetcher
    const holder = holderOfBundle(recordId)
    for (const snapshot of yield* content.pinned(holder)) yield* content.release(snapshot, holder)
  }).pipe(Effect.catchTag("ContentFault", (fault) => Effect.logWarning(fault.message)))

/** Cleans up after a deleted blueprint: its hold on its files, and its runs. May be repeated. */
export const forgetBlueprint = (recordId: RecordId): Effect.Effect<void, StorageFault, ContentFetcher | RunJournal> =>
  Effect.andThen(
    releaseBundles(recordId),
    Effect.flatMap(RunJournal, (journal) => journal.forget(blueprintSubject({ recordId }))),
  )
