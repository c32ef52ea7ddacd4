import {
  type Conclusion,
  Conflict,
  Failed,
  type Fault,
  Forbidden,
  type RecordId,
  RunNotFound,
  type RunState,
  sayIssues,
  type Source,
  SourceMoved,
  SourceNotFound,
  SourceUnfetched,
  type SourceOrigin,
  type Step,
  type StepFailure,
  type UserId,
  workPlan,
} from "@rangewright/domain"
import { type ContentFetcher, type ContentProgress, type SecretStore, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoredFile } from "../operation/operation.ts"
import { runKind } from "@rangewright/run-engine"
import { RunEngine } from "@rangewright/run-engine"
import { work, type StepContext } from "@rangewright/run-engine"
import { type FetchedSource, fetchSource, releaseSource } from "./fetch-source.ts"
import { SourceContents } from "./source-contents.ts"
import { sourceSubject } from "./source-subject.ts"
import { startAfterOthers } from "./start-after-others.ts"

const Origin = Schema.Struct({ url: Schema.String, ref: Schema.String, path: Schema.String })

/** The request of a fetch. Absent options do not apply. */
const FetchOptions = Schema.Struct({
  recordId: Schema.String,
  /** Applies the source's manifest from now on. */
  manifest: Schema.optionalKey(Schema.Literal(true)),
  /** Records the outcome on the source: the fetch is a sync. */
  outcome: Schema.optionalKey(Schema.Literal(true)),
  /**
   * Removes the source again if it has no content at the end and still comes from here: it was just registered. `true`, in requests of
   * older versions: wherever it comes from.
   */
  discard: Schema.optionalKey(Schema.Union([Origin, Schema.Literal(true)])),
  /** An uploaded archive, which is removed with its request: such a fetch cannot be resumed after a crash. */
  archive: Schema.optionalKey(
    Schema.Struct({ filename: Schema.String, contentType: Schema.String, size: Schema.Number, path: Schema.String }),
  ),
})
type FetchOptions = typeof FetchOptions.Type

const decodeOptions = Schema.decodeUnknownOption(FetchOptions)
const step = "fetch"
/**
 * Limits of concurrent fetches in this process. A server that hangs occupies a slot until it is given up, so no user can take all slots,
 * and content on this host does not wait for servers.
 */
const usesFor = ({ type, owner }: Source): Step["uses"] => [
  type === "git" ? { resource: "source-fetch", slots: 12, ofHost: true } : { resource: "source-unpack", slots: 6, ofHost: true },
  { resource: `source-fetch@${owner}`, slots: 4, ofHost: true },
]

const sourceOf = Effect.fnUntraced(function* (recordId: string) {
  const sources = yield* Sources
  const source = yield* sources.findByRecordId(recordId as RecordId)
  return source ?? (yield* new SourceNotFound({ source: recordId }))
})

/** Prints each phase as a line of the log, and its numbers as the progress of the step. */
const tellTo = ({ print, progress }: Pick<StepContext, "print" | "progress">) => {
  let phase = ""
  return (told: ContentProgress): Effect.Effect<void> =>
    Effect.gen(function* () {
      const line = `${told.phase} ${told.item}`
      if (line !== phase) yield* print(line)
      phase = line
      yield* progress(told.done, told.total)
      // a journal that cannot be written ends the run by itself
    }).pipe(Effect.ignore)
}

const fetchWork = work({
  name: "fetch-source",
  input: FetchOptions,
  settle: ({ recordId, manifest, outcome, archive }, context) =>
    Effect.gen(function* () {
      const contents = yield* SourceContents
      const source = yield* sourceOf(recordId)
      const work = fetchSource(source, {
        progress: tellTo(context),
        with: {
          ...(manifest === undefined ? {} : { manifest }),
          ...(outcome === undefined ? {} : { outcome: { status: "ok", error: "" } as const }),
        },
        ...(archive === undefined ? {} : { archive }),
      })
      const stopped = Effect.andThen(context.cancelled, new Conflict({ what: `The fetch of source ${source.id} was cancelled` }))
      const fetched = yield* Effect.raceFirst(work, stopped).pipe(contents.alone(source))
      const { snapshot } = fetched.source
      const { warnings } = fetched.content
      if (warnings.length > 0) yield* context.print(warnings.map((warning) => sayIssues([warning])).join("\n"))
      return { changed: snapshot !== source.snapshot, data: { snapshot: snapshot ?? "" } }
    }),
})

const longestError = 2000

/** Why a sync failed, for people. */
const errorText = (state: RunState, end: Conclusion): string => {
  const text = state.steps.get(step)?.failure?.message ?? end.message
  return text.length <= longestError ? text : `${text.slice(0, longestError - 1)}…`
}

/** Applies a failed fetch to its source. */
const concludeFetch = Effect.fnUntraced(function* (options: FetchOptions, state: RunState, end: Conclusion) {
  const sources = yield* Sources
  const source = yield* sources.findByRecordId(options.recordId as RecordId)
  if (source === undefined || end.status === "success") return
  if (options.outcome) yield* sources.setOutcome(source.recordId, { status: "error", error: errorText(state, end) })
  if (options.discard === undefined) return
  const origin = options.discard === true ? source : options.discard
  if (yield* sources.removeUnfetched({ ...origin, recordId: source.recordId })) yield* releaseSource(source)
})

/** Fetches of sources as runs: with progress, cancel, and an end that is recorded even when the process dies meanwhile. */
export const sourceFetch = runKind({
  name: "source-fetch",
  doing: "a fetch",
  request: FetchOptions,
  plan: (options) =>
    Effect.map(sourceOf(options.recordId), (source) =>
      workPlan([fetchWork.step({ key: step, title: `Fetch source ${source.id}`, estimate: 10, uses: usesFor(source) }, options)]),
    ),
  works: [fetchWork],
  owner: ({ id }) =>
    Effect.map(
      Effect.flatMap(Sources, (sources) => sources.findByRecordId(id as RecordId)),
      (source) => source?.owner,
    ),
  finish: (end, state, head) => {
    const options = decodeOptions(head.options)
    return Option.isNone(options) ? Effect.void : concludeFetch(options.value, state, end)
  },
})

const ofContent: ReadonlySet<string> = new Set(["ContentFault", "SourceBroken"])

/** The fault of the step, mapped to one for the caller. */
const faultOf = (source: Source, { tag, kind, message, hint, issues }: StepFailure) => {
  if (tag === "SourceMoved") return new SourceMoved({ source: source.id })
  if (tag === "SourceNotFound") return new SourceNotFound({ source: source.id })
  const said = { what: message, ...(hint === undefined ? {} : { hint }) }
  if (ofContent.has(tag)) return new SourceUnfetched({ ...said, issues: issues ?? [] })
  if (kind === "forbidden") return new Forbidden({ reason: message, ...(hint === undefined ? {} : { hint }) })
  return kind === "conflict" ? new Conflict(said) : new Failed(said)
}

export interface FetchInput {
  readonly manifest?: true
  readonly outcome?: true
  readonly discard?: SourceOrigin
  readonly archive?: StoredFile
}

/**
 * Fetches what the source ships now in a run, and waits for its end: the caller gets the content, or the fault. The run continues when its
 * caller leaves. Must not be called inside `SourceContents.alone`: the run takes that itself.
 */
export const runFetch = Effect.fnUntraced(function* (
  source: Source,
  input: FetchInput,
  by: UserId,
): Effect.fn.Return<FetchedSource, Fault, ContentFetcher | RunEngine | SecretStore | SourceContents | Sources> {
  const engine = yield* RunEngine
  const sources = yield* Sources
  const contents = yield* SourceContents
  const request = sourceFetch.request(sourceSubject(source.recordId), { recordId: source.recordId, ...input })
  // a run knows the source by its record ID, the caller by its ID
  const gone = new SourceNotFound({ source: source.id })
  const { id } = yield* Effect.mapError(startAfterOthers(request, by), (fault) =>
    fault instanceof SourceNotFound ? gone : fault,
  )
  const state = yield* Effect.catchIf(
    engine.wait(id),
    (fault) => fault instanceof RunNotFound,
    () => gone,
  )
  const failure = state.steps.get(step)?.failure
  if (failure !== undefined && state.status !== "success") return yield* faultOf(source, failure)
  if (state.status === "aborted")
    return yield* new Conflict({ what: `Cannot fetch source ${source.id}: somebody cancelled it, or is removing the source` })
  if (state.status !== "success") return yield* new Failed({ what: `Cannot fetch source ${source.id}: ${state.message}` })
  const synced = yield* sources.findByRecordId(source.recordId)
  if (synced === undefined) return yield* gone
  if (synced.snapshot === undefined) return yield* new SourceMoved({ source: source.id })
  return { source: synced, content: yield* contents.ofId(synced.snapshot) }
})
