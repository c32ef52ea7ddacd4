import type { RecordId } from "@rangewright/domain"
import type { RunRecord } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { recordTime } from "./common.ts"
import { RunStatusText } from "./log-history.ts"

/** A deploy in the record API. `log` names no file: the log history serves the text. */
export const LogRecord = Schema.Struct({
  id: Schema.String,
  collectionId: Schema.String,
  collectionName: Schema.String,
  created: Schema.String,
  updated: Schema.String,
  /** Record IDs; empty when the object is gone. */
  user: Schema.String,
  range: Schema.String,
  template: Schema.String,
  status: RunStatusText,
  start: Schema.String,
  end: Schema.String,
  log: Schema.String,
}).annotate({ identifier: "LogRecord" })

export const logRecord = (
  run: RunRecord,
  of: { readonly user: RecordId | undefined; readonly range: RecordId | undefined },
): typeof LogRecord.Type => ({
  id: run.id,
  collectionId: "logs",
  collectionName: "logs",
  created: recordTime(run.startedAt),
  updated: recordTime(run.endedAt ?? run.startedAt),
  user: of.user ?? "",
  range: of.range ?? "",
  template: "",
  status: run.status,
  start: recordTime(run.startedAt),
  end: recordTime(run.endedAt),
  log: "",
})
