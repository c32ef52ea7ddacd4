import type { Fault, Source } from "@rangewright/domain"
import { type ContentFetcher, type ContentProgress, type SecretStore, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type FetchedSource, fetchSource } from "./fetch-source.ts"
import { SourceContents } from "./source-contents.ts"

const longestError = 2000

/** Why the last sync failed, for people (contract C 6.8). */
const errorText = ({ message }: Fault): string =>
  message.length <= longestError ? message : `${message.slice(0, longestError - 1)}…`

/**
 * Takes what the source ships now: its content and what it says of itself. Installs nothing and changes nothing that is installed. A sync
 * that fails leaves the content as it was, and tells why on the record.
 */
export const syncSource = Effect.fnUntraced(function* (
  source: Source,
  progress?: (progress: ContentProgress) => Effect.Effect<void>,
): Effect.fn.Return<FetchedSource, Fault, ContentFetcher | SecretStore | SourceContents | Sources> {
  const sources = yield* Sources
  return yield* fetchSource(source, {
    with: { manifest: true, outcome: { status: "ok", error: "" } },
    ...(progress === undefined ? {} : { progress }),
  }).pipe(
    Effect.tapError((fault) =>
      // why it failed counts, not that it could not be written down
      Effect.ignore(sources.setOutcome(source.recordId, { status: "error", error: errorText(fault) }), { log: "Warn" }),
    ),
    (yield* SourceContents).alone(source),
  )
})
