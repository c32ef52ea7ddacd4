import { openBuildLog, openLog, type RunHead, type RunLog } from "@rangewright/domain"
import { type JournalUnreadable, RunJournal, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { templateBuildName } from "../template/build-run.ts"

interface LogSoFar {
  readonly log: RunLog
  lastSeq: number
  text: string
}

/** Logs that followers ask for again and again. Journals only grow, so what was rendered stays true and only the rest is read. */
const mostKept = 16
const kept = new WeakMap<object, Map<string, LogSoFar>>()

/** Builds of templates look as their tool's clients know them; all other runs as Ansible's. */
const openFor = (run: RunHead): RunLog => (run.kind === templateBuildName ? openBuildLog(run.subject.id) : openLog(run))

/** The log of a run so far. */
export const runLog = (run: RunHead): Effect.Effect<string, JournalUnreadable | StorageFault, RunJournal> =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const logs = kept.get(journal) ?? new Map<string, LogSoFar>()
    kept.set(journal, logs)
    const known = logs.get(run.id) ?? { log: openFor(run), lastSeq: 0, text: "" }
    logs.delete(run.id)
    logs.set(run.id, known)
    const [oldest] = logs.keys()
    if (logs.size > mostKept && oldest !== undefined) logs.delete(oldest)
    for (const entry of yield* journal.read(run.id, known.lastSeq)) {
      // two requests may have read the same entries
      if (entry.seq <= known.lastSeq) continue
      known.text += known.log.push(entry)
      known.lastSeq = entry.seq
    }
    return known.text
  })
