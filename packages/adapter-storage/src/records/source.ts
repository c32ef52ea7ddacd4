import { type Source, sourceStatuses, sourceTypes } from "@rangewright/domain"
import { claimKinds, type ClaimOfSource, longestClaimName, type SourceClaim } from "@rangewright/ports"
import { key, oneOf, optional, reference, short, text, texts, time, unique } from "../schema/column.ts"
import { recordId, snapshotId, sourceId, userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { users } from "./user.ts"

export const sources = table("sources", {
  recordId: key(recordId),
  id: unique("sources_id_unique", sourceId),
  owner: reference(() => users.entity, userId),
  type: oneOf(sourceTypes),
  url: text,
  ref: text,
  path: text,
  /** Sealed; undefined when there is none. */
  access: optional(text),
  name: text,
  description: text,
  homepage: text,
  license: text,
  authors: texts,
  snapshot: optional(snapshotId),
  lastSyncedAt: optional(time),
  lastSyncStatus: oneOf(sourceStatuses),
  lastSyncError: text,
  schedule: optional(text),
  nextSyncAt: optional(time),
  createdAt: time,
})

/** A source without its credentials. */
export const toSource: (row: StoredRow) => Source = sources.reader({ without: ["access"] })

export const sourceClaims = table("source_claims", {
  sourceRecordId: key(reference(() => sources.entity, recordId)),
  kind: key(oneOf(claimKinds, 32)),
  name: key(short(longestClaimName)),
  /** The user's id, or empty for everybody. */
  holder: key(short(255)),
  /** The holder when it is a user, with whom the claim is deleted. */
  userId: optional(reference(() => users.entity, userId)),
  version: text,
})

const readClaim = sourceClaims.reader({ without: ["sourceRecordId", "holder"] })

export const toSourceClaim = (row: StoredRow): SourceClaim => {
  const { userId, ...claim } = readClaim(row)
  return { ...claim, scope: userId === undefined ? { type: "global" } : { type: "user", userId } }
}

const readNamed = sources.reader({ only: ["recordId", "id"] })

/** Decodes a claim joined with the record and the id of its source. */
export const toClaimOfSource = (row: StoredRow): ClaimOfSource => ({ ...toSourceClaim(row), source: readNamed(row) })
