import { type Json, parseSubjectKey, type RunSubject, runStatuses, subjectKey } from "@rangewright/domain"
import type { RunRecord } from "@rangewright/ports"
import {
  type Column,
  count,
  declared,
  flag,
  key,
  named,
  oneOf,
  optional,
  real,
  reference,
  short,
  text,
  time,
  unique,
  Unreadable,
  whole,
} from "../schema/column.ts"
import { rangeId, runId, userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { ranges } from "./range.ts"

/** `range:LAB`. */
const subject: Column<RunSubject, string> = {
  property: { type: "string", length: 1024 },
  read: (stored) => {
    const found = parseSubjectKey(text.read(stored))
    if (found === undefined) throw new Unreadable("it has nothing that this version knows")
    return found
  },
  write: subjectKey,
}

/** Any JSON; decoded by the run kind. */
const options: Column<Json, string> = {
  ...text,
  read: (stored) => {
    try {
      const value: Json = JSON.parse(text.read(stored))
      return value
    } catch {
      throw new Unreadable("it is not valid JSON")
    }
  },
  write: (value) => JSON.stringify(value),
}

export const runs = table(
  "runs",
  {
    id: key(runId),
    kind: short(32),
    subject,
    /** The subject while the run is unfinished, undefined afterwards. Unique: a subject has at most one unfinished run. */
    busySubject: optional(unique("runs_busy_subject_unique", short(1024))),
    /** The range of the run, which is deleted with it; undefined for other subjects. */
    rangeId: optional(reference(() => ranges.entity, rangeId)),
    by: named("by_user", userId),
    options,
    startedAt: time,
    status: oneOf(runStatuses),
    endedAt: optional(time),
    lastSeq: whole,
    cancelRequested: flag,
    generation: whole,
    leaseOwner: optional(text),
    leaseUntil: optional(count),
    /** May refer to a deleted run. */
    blockedBy: named("behind", optional(runId)),
    /** Never 0: PostgreSQL numbers the runs that an older version opens with it. */
    ordinal: declared(unique("runs_ordinal_unique", whole), { default: 0 }),
  },
  {
    indexes: [
      { name: "runs_range_index", properties: ["rangeId"] },
      { name: "runs_subject_index", properties: ["subject", "ordinal"] },
      { name: "runs_started_index", properties: ["startedAt"] },
      { name: "runs_ended_index", properties: ["endedAt"] },
    ],
  },
)

export const toRun: (row: StoredRow) => RunRecord = runs.reader({
  without: ["busySubject", "rangeId", "generation", "leaseOwner", "leaseUntil"],
})

export const journalEntries = table("journal_entries", {
  runId: key(
    declared(
      reference(() => runs.entity, runId),
      { index: false },
    ),
  ),
  seq: key(declared(whole, { autoincrement: false })),
  at: time,
  /** JSON of the event. */
  event: text,
})

/** How long the work of runs takes. */
export const stepDurations = table("step_durations", {
  /** The user whose own work it is; empty for everybody's. */
  owner: key(short(255)),
  name: key(text),
  seconds: real,
  /** How many runs it comes from. */
  count: whole,
  learnedAt: time,
})
