import {
  neededTexts,
  readSource,
  type ReadSource,
  type SnapshotId,
  SourceBroken,
  type SourceEntry,
  type SourceFiles,
  surveySource,
  type SourceSurvey,
} from "@rangewright/domain"
import { ContentFault, ContentFetcher, type Snapshot } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** What a snapshot ships, and what of its catalog does not depend on who looks at it. */
export interface SnapshotContent extends ReadSource {
  readonly snapshot: Snapshot
  readonly survey: SourceSurvey
}

/** Bytes of one manifest or configuration; what is larger is told as unreadable. */
const mostTextBytes = 1024 * 1024
/** UTF-16 units of all of them together. */
const mostText = 64 * 1024 * 1024
const readsAtOnce = 16

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decoded = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The text of a file; undefined: it is too large, or none. */
const textOf = Effect.fnUntraced(function* (
  id: SnapshotId,
  path: string,
): Effect.fn.Return<string | undefined, ContentFault, ContentFetcher> {
  const fetcher = yield* ContentFetcher
  return yield* fetcher.read(id, path, mostTextBytes).pipe(
    Effect.map(decoded),
    Effect.catch((fault) => (fault.facts.reason === "too-large" ? Effect.succeed(undefined) : Effect.fail(fault))),
  )
})

/** Reads texts until no file is named that was not asked for: manifests first, then what they name. */
const textsOf = Effect.fnUntraced(function* (
  id: SnapshotId,
  entries: readonly SourceEntry[],
): Effect.fn.Return<SourceFiles, ContentFault, ContentFetcher> {
  const texts = new Map<string, string>()
  const asked = new Set<string>()
  const files: SourceFiles = { entries, texts }
  let total = 0
  for (;;) {
    const wanted = neededTexts(files).filter((path) => !asked.has(path))
    if (wanted.length === 0) return files
    const found = yield* Effect.forEach(
      wanted,
      (path) => {
        asked.add(path)
        return Effect.map(textOf(id, path), (text) => {
          total += text?.length ?? 0
          return [path, text] as const
        }).pipe(
          Effect.filterOrFail(
            () => total <= mostText,
            () =>
              new ContentFault({
                doing: "read the source",
                reason: "too-large",
                rule: "texts",
                detail: `its manifests and configurations are more than ${mostText / 1024 / 1024} MiB together`,
              }),
          ),
        )
      },
      { concurrency: readsAtOnce },
    )
    for (const [path, text] of found) if (text !== undefined) texts.set(path, text)
  }
})

/** Reads everything that a snapshot ships. `SourceBroken` names each thing for which it must be refused. */
export const readSnapshot = Effect.fnUntraced(function* (
  snapshot: Snapshot,
): Effect.fn.Return<SnapshotContent, ContentFault | SourceBroken, ContentFetcher> {
  const entries = snapshot.files.map(({ kind, path }): SourceEntry => ({ kind, path }))
  const read = readSource(yield* textsOf(snapshot.id, entries))
  if (Result.isFailure(read)) return yield* new SourceBroken({ issues: read.failure })
  return { ...read.success, snapshot, survey: surveySource(read.success.content) }
})
