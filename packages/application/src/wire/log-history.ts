import type { RunStatus } from "@rangewright/domain"
import type { RunRecord } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { wireTime } from "./common.ts"

export const LogPage = Schema.Struct({ result: Schema.String, cursor: Schema.Int }).annotate({ identifier: "LogPage" })

const runStatuses = ["running", "success", "partial", "failure", "aborted"] as const satisfies readonly RunStatus[]
export const RunStatusText = Schema.Literals(runStatuses)

const entry = {
  id: Schema.String,
  status: RunStatusText,
  start: Schema.String,
  /** Go's zero time while the run is not over. */
  end: Schema.String,
  created: Schema.String,
}

/** `template` is for the logs of template builds. */
export const LogHistoryEntry = Schema.Struct({ ...entry, template: Schema.optionalKey(Schema.String) }).annotate({
  identifier: "LogHistoryEntry",
})
export const LogHistoryDetailResponse = Schema.Struct({ ...entry, result: Schema.String }).annotate({
  identifier: "LogHistoryDetailResponse",
})

export const logHistoryEntry = (run: RunRecord): typeof LogHistoryEntry.Type => ({
  id: run.id,
  status: run.status,
  start: wireTime(run.startedAt),
  end: wireTime(run.endedAt),
  created: wireTime(run.startedAt),
})
