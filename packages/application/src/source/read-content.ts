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

/** What a snapshot ships, and the part of its catalog that does not depend on the viewer. */
export interface SnapshotContent extends ReadSource {
  readonly snapshot: Snapshot
  readonly survey: SourceSurvey
  /** Approximate memory use, in characters. */
  readonly weight: number
}

/** Most bytes of one manifest or configuration; a larger one is reported as unreadable. */
const mostTextBytes = 1024 * 1024
/** Most UTF-16 units of all texts together. */
const mostText = 16 * 1024 * 1024
const readsAtOnce = 16
/** Weight of an entry of a snapshot in characters: its path, and the objects around it. */
const entryWeight = 200

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Runs work in parts; other fibers get their turn after each, however much a source contains. */
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

/** The text of a file; undefined: it is too large, or not text. */
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

/** Reads texts until no new file is needed: manifests first, then the files that they name. */
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

/** The facts from the builder files among the texts. */
const buildersIn = ({ texts }: SourceFiles) =>
  Effect.gen(function* () {
    const reader = yield* BuilderFiles
    const builders = [...texts].filter(([path]) => isBuilder(path))
    return new Map(
      yield* Effect.forEach(builders, ([path, text]) => Effect.map(reader.read(path, text), (facts) => [path, facts] as const)),
    )
  })

/** Reads everything that a snapshot ships. `SourceBroken` lists every reason why it must be refused. */
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
