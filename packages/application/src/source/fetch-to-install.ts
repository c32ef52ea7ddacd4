import { Failed, type Fault, type Source, type UserId, howTo } from "@rangewright/domain"
import type { ContentFetcher, SecretStore, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { RunEngine } from "@rangewright/run-engine"
import { asFailure } from "./content-refused.ts"
import { runFetch } from "./fetch-run.ts"
import { contentOf, type FetchedSource } from "./fetch-source.ts"
import type { SourceContents } from "./source-contents.ts"

/**
 * What the source ships now: every installation starts with that. A source that cannot be fetched or read keeps its content, records the
 * failure, and installs nothing.
 */
export const fetchToInstall = (
  source: Source,
  by: UserId,
): Effect.Effect<FetchedSource, Fault, ContentFetcher | RunEngine | SecretStore | SourceContents | Sources> =>
  Effect.mapError(runFetch(source, { manifest: true, outcome: true }, by), asFailure)

/** The content that the source has: a dry run fetches nothing, since that would change the source. */
export const fetchedBefore = (
  source: Source,
): Effect.Effect<FetchedSource, Fault, ContentFetcher | SecretStore | SourceContents | Sources> =>
  Effect.gen(function* () {
    const content = yield* Effect.mapError(contentOf(source), asFailure)
    if (content !== undefined) return { source, content }
    return yield* new Failed({
      what: `Cannot plan an installation from source ${source.id}: nothing was fetched from its current location`,
      hint: `Fetch it first: ${howTo("POST /sources/{sourceID}/sync", { sourceID: source.id })}.`,
    })
  })
