import { type JournalEntry, openBuildLog, openLog, type RunHead, type RunLog, RunNotFound } from "@rangewright/domain"
import { type JournalUnreadable, RunJournal, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { longRead } from "../operation/long-work.ts"
import { templateBuildName } from "../template/build-run.ts"

/** The text that one entry of the journal adds to the log. */
export interface LogPart {
  readonly seq: number
  readonly at: Date
  /** Key of the step that it is about. */
  readonly step: string | undefined
  /** Whole lines, each ended. */
  readonly text: string
}

interface LogSoFar {
  readonly log: RunLog
  readonly parts: LogPart[]
  lastSeq: number
  /** Approximate memory use of the parts, in characters. */
  size: number
}

/** Entries per read. */
const batch = 2000

/** Number of cached logs, for followers that poll. Journals only grow, so rendered text stays valid and only the rest is read. */
const mostKept = 16
/** Characters of all cached logs; the last requested one is kept in any case. */
const mostCharacters = 64 * 1024 * 1024
const perPart = 100
const kept = new WeakMap<object, Map<string, LogSoFar>>()

/** Template builds are shown in the format that clients of packer expect; all other runs in Ansible's. */
const openFor = (run: RunHead): RunLog => (run.kind === templateBuildName ? openBuildLog(run.subject.id) : openLog(run))

const partOf = (log: RunLog, entry: JournalEntry): LogPart => ({
  seq: entry.seq,
  at: entry.at,
  step: "key" in entry.event ? entry.event.key : undefined,
  text: log.push(entry),
})

const forgetOldest = (logs: Map<string, LogSoFar>): void => {
  let size = [...logs.values()].reduce((sum, log) => sum + log.size, 0)
  for (const [id, log] of logs) {
    if (logs.size === 1 || (logs.size <= mostKept && size <= mostCharacters)) return
    logs.delete(id)
    size -= log.size
  }
}

/** The log of a run so far, by journal entry; entries without text are left out. Do not mutate it. */
export const logParts = (
  run: RunHead,
): Effect.Effect<Pick<LogSoFar, "parts" | "lastSeq">, JournalUnreadable | StorageFault, RunJournal> =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const logs = kept.get(journal) ?? new Map<string, LogSoFar>()
    kept.set(journal, logs)
    const known = logs.get(run.id) ?? { log: openFor(run), parts: [], lastSeq: 0, size: 0 }
    logs.delete(run.id)
    logs.set(run.id, known)
    for (;;) {
      const entries = yield* journal.read(run.id, known.lastSeq, batch)
      for (const entry of entries) {
        // two requests may have read the same entries
        if (entry.seq <= known.lastSeq) continue
        const part = partOf(known.log, entry)
        if (part.text !== "") known.parts.push(part)
        known.lastSeq = entry.seq
        known.size += part.text.length + perPart
      }
      if (entries.length < batch) break
    }
    forgetOldest(logs)
    return known
  })

/** The log of a run so far. */
export const runLog = (run: RunHead): Effect.Effect<string, JournalUnreadable | StorageFault, RunJournal> =>
  Effect.map(logParts(run), ({ parts }) => parts.map(({ text }) => text).join(""))

/**
 * The same, read while it is sent: only a limited number of entries is held at once, however long the log is. Fails when the run is removed
 * meanwhile, since the log is then incomplete.
 */
export const runLogText = (run: RunHead): Stream.Stream<string, JournalUnreadable | RunNotFound | StorageFault, RunJournal> => {
  const log = openFor(run)
  return Stream.paginate(0, (afterSeq: number) =>
    longRead(
      Effect.gen(function* () {
        const journal = yield* RunJournal
        const entries = yield* journal.read(run.id, afterSeq, batch)
        const last = entries.at(-1)
        if (last === undefined && (yield* journal.find(run.id)) === undefined) return yield* new RunNotFound({ runId: run.id })
        const text = entries.map((entry) => log.push(entry)).join("")
        return [text === "" ? [] : [text], last === undefined ? Option.none() : Option.some(last.seq)] as const
      }),
    ),
  )
}
