import {
  groupBy,
  installation,
  type JournalEntry,
  RangeNotFound,
  refusedDeploy,
  rangeOf,
  type RangeState,
  type RunEvent,
  type RunHead,
  type RunId,
  type RunSubject,
  storedRunEvent,
  subjectKey,
} from "@rangewright/domain"
import { LeaseLost, type RunFilter, RunJournal, type RunRecord, SubjectTaken } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import { leasesIn } from "./lease.ts"
import { quotaFacts } from "./quotas.ts"
import { type MemoryStore, type StoredRun, writeRange } from "./memory-store.ts"

/** A copy of JSON as a database would return it. */
const asStored = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

const newestFirst = (a: RunRecord, b: RunRecord): number => b.ordinal - a.ordinal

const isAsked = (filter: RunFilter, run: RunRecord): boolean => {
  const { subject, ranges, types, kinds, statuses, by, since, before } = filter
  const rangeId = rangeOf(run)
  return (
    (subject === undefined || subjectKey(run.subject) === subjectKey(subject)) &&
    (ranges === undefined || (rangeId !== undefined && ranges.includes(rangeId))) &&
    (types === undefined || types.includes(run.subject.type)) &&
    (kinds === undefined || kinds.includes(run.kind)) &&
    (statuses === undefined || statuses.includes(run.status)) &&
    (by === undefined || run.by === by) &&
    (since === undefined || run.startedAt >= since) &&
    (before === undefined || run.ordinal < before)
  )
}

export const runJournalLayer = (store: MemoryStore): Layer.Layer<RunJournal> => {
  const { atomically, change } = writesTo(store)
  const records = () => [...store.runs.values()].map(({ record }) => record).sort(newestFirst)
  const unfinished = () => records().filter(({ status }) => status === "running")
  const fenced = (runId: RunId, generation: number) => {
    const run = store.runs.get(runId)
    return run === undefined || run.record.status !== "running" || run.generation !== generation
      ? Result.fail(new LeaseLost({ what: `run ${runId}`, generation }))
      : Result.succeed(run)
  }
  const write = (run: StoredRun, events: readonly RunEvent[], at: Date, change: Partial<StoredRun>): readonly JournalEntry[] => {
    const { lastSeq } = run.record
    const entries = events.map((event, i) => ({ seq: lastSeq + 1 + i, at, event: storedRunEvent(event) }))
    const record = { ...run.record, ...change.record, lastSeq: lastSeq + entries.length }
    store.runs.set(record.id, { ...run, ...change, record, entries: [...run.entries, ...entries] })
    return entries
  }
  const setState = (head: RunHead, state: RangeState | undefined, at: Date, lastDeploymentAt?: Date) => {
    const rangeId = rangeOf(head)
    const range = rangeId === undefined ? undefined : store.ranges.get(rangeId)
    if (range === undefined || (state === undefined && lastDeploymentAt === undefined)) return
    writeRange(store, { ...range, state: state ?? range.state, lastDeploymentAt: lastDeploymentAt ?? range.lastDeploymentAt }, at)
  }

  const isAbout = (subject: RunSubject) => (run: RunRecord) => subjectKey(run.subject) === subjectKey(subject)
  const active = (subject: RunSubject) =>
    unfinished().find((run) => isAbout(subject)(run) && store.runs.get(run.id)?.yielded !== true)
  /** A cancelled run of a range gives way to the next one, which waits for its end. */
  const givesWay = ({ subject, cancelRequested }: RunRecord) => subject.type === "range" && cancelRequested

  return Layer.succeed(RunJournal, {
    ...leasesIn(store),
    open: (head, rangeState, systemLimits) =>
      atomically(function* () {
        const there = store.runs.get(head.id)
        if (there !== undefined) return there.record
        const rangeId = rangeOf(head)
        if (rangeId !== undefined && !store.ranges.has(rangeId)) return yield* Result.fail(new RangeNotFound({ rangeId }))
        const going = active(head.subject)
        if (going !== undefined && !givesWay(going)) return yield* Result.fail(new SubjectTaken({ run: going }))
        const text = rangeId === undefined || head.kind !== "deploy" ? undefined : store.configs.get(rangeId)?.text
        if (rangeId !== undefined && text !== undefined && systemLimits !== undefined) {
          const refused = refusedDeploy(quotaFacts(store), rangeId, text, systemLimits)
          if (refused !== undefined) return yield* Result.fail(refused)
        }
        // or one that gave way to a run that is already over
        const before = going ?? unfinished().find(isAbout(head.subject))
        const yielding = before === undefined ? undefined : store.runs.get(before.id)
        if (yielding !== undefined) store.runs.set(yielding.record.id, { ...yielding, yielded: true })
        const blockedBy = rangeId === undefined ? undefined : (active(installation)?.id ?? before?.id)
        const record = {
          ...head,
          options: asStored(head.options),
          status: "running" as const,
          endedAt: undefined,
          lastSeq: 0,
          cancelRequested: false,
          blockedBy,
          ordinal: (records()[0]?.ordinal ?? 0) + 1,
        }
        store.runs.set(head.id, { record, entries: [], yielded: false, generation: 0, lease: undefined })
        if (rangeId !== undefined && text !== undefined) store.deployedConfigs.set(rangeId, text)
        setState(head, rangeState, head.startedAt, head.kind === "deploy" ? head.startedAt : undefined)
        return record
      }),
    append: (runId, generation, events, at) =>
      atomically(function* () {
        return write(yield* fenced(runId, generation), events, at, {})
      }),
    close: (runId, generation, ended, rangeState, at) =>
      atomically(function* () {
        if (store.runs.get(runId)?.record.status !== "running") return
        const run = yield* fenced(runId, generation)
        write(run, [ended], at, { record: { ...run.record, status: ended.status, endedAt: at }, lease: undefined })
        if (!run.yielded) setState(run.record, rangeState, at)
      }),
    requestCancel: (runId, lastSeq, event, at, rangeState) =>
      change(() => {
        const run = store.runs.get(runId)
        if (run?.record.status !== "running" || run.record.lastSeq !== lastSeq) return false
        write(run, [event], at, { record: { ...run.record, cancelRequested: true } })
        setState(run.record, rangeState, at)
        return true
      }),
    read: (runId, afterSeq, limit) =>
      Effect.sync(() => (store.runs.get(runId)?.entries ?? []).filter(({ seq }) => seq > afterSeq).slice(0, limit)),
    find: (runId) => Effect.sync(() => store.runs.get(runId)?.record),
    active: (subject) => Effect.sync(() => active(subject)),
    unfinished: Effect.sync(unfinished),
    recoverable: Effect.sync(unfinished),
    list: (filter) =>
      Effect.sync(() =>
        records()
          .filter((run) => isAsked(filter, run))
          .slice(0, filter.limit),
      ),
    endedAfter: (time) =>
      Effect.sync(() => {
        const ended = records().filter(({ endedAt }) => endedAt !== undefined && endedAt > time)
        const groups = groupBy(ended, ({ kind, status }) => JSON.stringify([kind, status]))
        return [...groups.values()].flatMap((runs) =>
          runs.slice(0, 1).map(({ kind, status }) => ({ kind, status, count: runs.length })),
        )
      }),
    prune: ({ subject, kind }, keep) =>
      change(() => {
        const meant = { subject, kinds: [kind], limit: Number.POSITIVE_INFINITY }
        const old = records()
          .filter((run) => run.status !== "running" && isAsked(meant, run))
          .slice(keep)
        for (const { id } of old) store.runs.delete(id)
        return old.length
      }),
    forget: (subject) =>
      change(() => {
        for (const run of records()) if (run.status !== "running" && isAbout(subject)(run)) store.runs.delete(run.id)
      }),
  })
}
