import {
  type InParts,
  isBuilder,
  neededTextsInParts,
  type ReadSource,
  readSourceInParts,
  type SnapshotId,
  SourceBroken,
  type SourceEntry,
  type SourceFiles,
  surveySource,
  type SourceSurvey,
} from "@rangewright/domain"
import { BuilderFiles, ContentFault, ContentFetcher, type Snapshot } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** What a snapshot ships, and what of its catalog does not depend on who looks at it. */
export interface SnapshotContent extends ReadSource {
  readonly snapshot: Snapshot
  readonly survey: SourceSurvey
  /** About how much memory it takes, in characters. */
  readonly weight: number
}

/** Bytes of one manifest or configuration; what is larger is told as unreadable. */
const mostTextBytes = 1024 * 1024
/** UTF-16 units of all of them together. */
const mostText = 16 * 1024 * 1024
const readsAtOnce = 16
/** Characters that an entry of a snapshot counts as: its path, and the objects around it. */
const entryWeight = 200

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Does work in parts; others have their turn after each, however much a source holds. */
const withPauses = <A>(work: InParts<A>): Effect.Effect<A> =>
  Effect.gen(function* () {
    for (;;) {
      const { done, value } = work.next()
      if (done === true) return value
      yield* Effect.yieldNow
    }
  })

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
): Effect.fn.Return<{ readonly files: SourceFiles; readonly total: number }, ContentFault, ContentFetcher> {
  const texts = new Map<string, string>()
  const asked = new Set<string>()
  const files: SourceFiles = { entries, texts }
  let total = 0
  for (;;) {
    const wanted = (yield* withPauses(neededTextsInParts(files))).filter((path) => !asked.has(path))
    if (wanted.length === 0) return { files, total }
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
                detail: `its manifests and configurations are more than ${mostText / 1024 / 1024} MiB in total`,
              }),
          ),
        )
      },
      { concurrency: readsAtOnce },
    )
    for (const [path, text] of found) if (text !== undefined) texts.set(path, text)
  }
})

/** What the builder files among the texts say. */
const buildersIn = ({ texts }: SourceFiles) =>
  Effect.gen(function* () {
    const reader = yield* BuilderFiles
    const builders = [...texts].filter(([path]) => isBuilder(path))
    return new Map(
      yield* Effect.forEach(builders, ([path, text]) => Effect.map(reader.read(path, text), (facts) => [path, facts] as const)),
    )
  })

/** Reads everything that a snapshot ships. `SourceBroken` names each thing for which it must be refused. */
export const readSnapshot = Effect.fnUntraced(function* (
  snapshot: Snapshot,
): Effect.fn.Return<SnapshotContent, ContentFault | SourceBroken, BuilderFiles | ContentFetcher> {
  const entries = snapshot.files.map(({ kind, path }): SourceEntry => ({ kind, path }))
  const { files, total } = yield* textsOf(snapshot.id, entries)
  const read = yield* withPauses(readSourceInParts({ ...files, builders: yield* buildersIn(files) }))
  if (Result.isFailure(read)) return yield* new SourceBroken({ issues: read.failure })
  const survey = surveySource(read.success.content)
  return { ...read.success, snapshot, survey, weight: total + entries.length * entryWeight }
})
