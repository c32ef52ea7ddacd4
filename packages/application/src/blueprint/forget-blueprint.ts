import { type Blueprint, holderOfBundle, type RecordId, type RunSubject } from "@rangewright/domain"
import { ContentFetcher, RunJournal, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** A blueprint as what runs are about: by its record, for one made anew under an old id is another one. */
export const blueprintSubject = ({ recordId }: Pick<Blueprint, "recordId">): RunSubject => ({ type: "blueprint", id: recordId })

/** The blueprint with this record is gone, or never came to be: it needs no snapshot. What cannot be released only takes room. */
export const releaseBundles = (recordId: RecordId): Effect.Effect<void, never, ContentFetcher> =>
  Effect.gen(function* () {
    const content = yield* ContentFetcher
    const holder = holderOfBundle(recordId)
    for (const snapshot of yield* content.pinned(holder)) yield* content.release(snapshot, holder)
  }).pipe(Effect.catchTag("ContentFault", (fault) => Effect.logWarning(fault.message)))

/** A blueprint that is gone takes along what lies beside it: its hold on its files, and the runs that were about it. May be repeated. */
export const forgetBlueprint = (recordId: RecordId): Effect.Effect<void, StorageFault, ContentFetcher | RunJournal> =>
  Effect.andThen(
    releaseBundles(recordId),
    Effect.flatMap(RunJournal, (journal) => journal.forget(blueprintSubject({ recordId }))),
  )
