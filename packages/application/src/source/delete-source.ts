import type { Blueprint, Fault, Source, UserId } from "@rangewright/domain"
import { Blueprints, type ContentFetcher, RunJournal, type SourceClaim, Sources, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { forgetBlueprint } from "../blueprint/forget-blueprint.ts"
import type { RunEngine } from "@rangewright/run-engine"
import { endWorkOn } from "./end-work.ts"
import { releaseSource } from "./fetch-source.ts"
import { SourceContents } from "./source-contents.ts"
import { sourceSubject } from "./source-subject.ts"

/** The uses of what a source brought. */
export interface SourceUse {
  /** They are removed with it; ascending by ID. */
  readonly blueprints: readonly Blueprint[]
  /** They stay installed. */
  readonly installed: readonly SourceClaim[]
}

export const useOfSource = Effect.fnUntraced(function* (
  source: Source,
): Effect.fn.Return<SourceUse, StorageFault, Blueprints | Sources> {
  const blueprintStore = yield* Blueprints
  const sources = yield* Sources
  const blueprints = yield* blueprintStore.list({ ofSource: source.recordId })
  return {
    blueprints: blueprints.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    installed: yield* sources.claims(source.recordId),
  }
})

/**
 * Removes the source with its blueprints and their shares; installed templates, roles and collections stay. Runs of the source are
 * cancelled first. Returns what was in use.
 */
export const deleteSource = Effect.fnUntraced(function* (
  source: Source,
  by: UserId,
): Effect.fn.Return<SourceUse, Fault, Blueprints | ContentFetcher | RunEngine | RunJournal | SourceContents | Sources> {
  const contents = yield* SourceContents
  yield* endWorkOn(source, by)
  const work = Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const sources = yield* Sources
    const journal = yield* RunJournal
    const use = yield* useOfSource(source)
    const gone = yield* blueprints.removeOfSource(source.recordId, "all")
    yield* sources.remove(source.recordId)
    yield* journal.forget(sourceSubject(source.recordId))
    for (const { recordId } of gone) yield* forgetBlueprint(recordId)
    yield* releaseSource(source)
    return use
  })
  return yield* contents.alone(source)(work)
})
