import { Failed, type Fault, type Source } from "@rangewright/domain"
import { type ContentFetcher, type SecretStore, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { contentOf, fetchSource, type FetchedSource } from "./fetch-source.ts"
import { SourceContents } from "./source-contents.ts"

/** The longest text of a failed fetch on a source, in characters (contract C 6.8). */
const longest = 2000

/**
 * What the source ships now, fetched and landed: an installation always begins with that (contract C 6.1). A source that cannot be
 * fetched or read keeps what it had, says so on its record, and installs nothing.
 */
export const fetchToInstall = (
  source: Source,
): Effect.Effect<FetchedSource, Fault, ContentFetcher | SecretStore | SourceContents | Sources> =>
  Effect.flatMap(SourceContents, ({ alone }) => alone(source)(fetchSource(source, { with: { manifest: true } }))).pipe(
    Effect.tapError((fault) =>
      Effect.flatMap(Sources, (sources) =>
        sources.setOutcome(source.recordId, { status: "error", error: fault.message.slice(0, longest) }),
      ),
    ),
    Effect.mapError(failedContent),
  )

/** The content that the source has: a dry run fetches nothing, for that would change the source. */
export const fetchedBefore = (
  source: Source,
): Effect.Effect<FetchedSource, Fault, ContentFetcher | SecretStore | SourceContents | Sources> =>
  Effect.gen(function* () {
    const content = yield* Effect.mapError(contentOf(source), failedContent)
    if (content !== undefined) return { source, content }
    return yield* new Failed({
      what: `Cannot plan an installation from source ${source.id}: nothing was fetched from where it is now`,
      hint: `Fetch it first: POST /sources/${source.id}/sync.`,
    })
  })

/** Whatever is wrong with content, the caller sent nothing that is wrong (contract C 2.8). */
const failedContent = (fault: Fault): Fault =>
  fault._tag === "ContentFault" || fault._tag === "SourceBroken"
    ? new Failed({ what: fault.message, ...(fault.hint === undefined ? {} : { hint: fault.hint }) })
    : fault
