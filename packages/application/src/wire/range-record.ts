import type { Range } from "@rangewright/domain"
import { isClosed, rangeStates } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { recordTime } from "./common.ts"

/** A range in the record API and in `/whoami`. */
export const RangeRecord = Schema.Struct({
  id: Schema.String,
  collectionId: Schema.String,
  collectionName: Schema.String,
  created: Schema.String,
  updated: Schema.String,
  rangeID: Schema.String,
  rangeNumber: Schema.Int,
  name: Schema.String,
  description: Schema.String,
  purpose: Schema.String,
  lastDeployment: Schema.String,
  numberOfVMs: Schema.Int,
  testingEnabled: Schema.Boolean,
  allowedDomains: Schema.Array(Schema.String),
  allowedIPs: Schema.Array(Schema.String),
  rangeState: Schema.Literals(rangeStates),
  thumbnail: Schema.String,
  inactivityShutdownTimeout: Schema.String,
  lastActive: Schema.String,
}).annotate({ identifier: "RangeRecord" })

export const rangeRecord = (range: Range, numberOfVms: number): typeof RangeRecord.Type => ({
  id: range.recordId,
  collectionId: "ranges",
  collectionName: "ranges",
  created: recordTime(range.createdAt),
  updated: recordTime(range.updatedAt),
  rangeID: range.id,
  rangeNumber: range.number,
  name: range.name,
  description: range.description,
  purpose: range.purpose,
  lastDeployment: recordTime(range.lastDeploymentAt),
  numberOfVMs: numberOfVms,
  testingEnabled: isClosed(range.testing),
  allowedDomains: range.testing.allowedDomains,
  allowedIPs: range.testing.allowedIps,
  rangeState: range.state,
  thumbnail: range.thumbnail ?? "",
  inactivityShutdownTimeout: range.autoShutdown ?? "",
  lastActive: recordTime(range.lastActiveAt),
})
