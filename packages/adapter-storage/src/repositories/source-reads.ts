import type { RecordId, Source, SourceId, UserId } from "@rangewright/domain"
import type { SourceClaim } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Database } from "../engine/database.ts"
import { type SourceClaimRow, type SourceRow, toSource, toSourceClaim } from "../schema/rows.ts"

/** Everything but what opens it. */
export const sourceColumns = [
  "record_id",
  "id",
  "owner",
  "type",
  "url",
  "ref",
  "path",
  "name",
  "description",
  "homepage",
  "license",
  "authors",
  "snapshot",
  "last_synced_at",
  "last_sync_status",
  "last_sync_error",
  "schedule",
  "next_sync_at",
  "created_at",
] as const
const select = `select ${sourceColumns.join(", ")} from sources`

/** Orders of our own: the engines' collations differ. */
const newestFirst = (a: Source, b: Source): number => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? -1 : 1)
const longestDueFirst = (a: Source, b: Source): number => Number(a.nextSyncAt) - Number(b.nextSyncAt) || (a.id < b.id ? -1 : 1)
const claimKey = ({ kind, name, scope }: SourceClaim): readonly string[] => [
  kind,
  name,
  scope.type === "global" ? "" : scope.userId,
]
const byClaimKey = (a: SourceClaim, b: SourceClaim): number => {
  const [left, right] = [claimKey(a), claimKey(b)]
  const at = left.findIndex((text, index) => text !== right[index])
  return at === -1 ? 0 : (left[at] ?? "") < (right[at] ?? "") ? -1 : 1
}

/** The reads of sources: prepared once, to plain rows. */
export const sourceReads = ({ prepared }: Database["Service"]) => {
  const byId = prepared<SourceRow>("find a source", `${select} where id = ?`)
  const byRecordId = prepared<SourceRow>("find a source", `${select} where record_id = ?`)
  const all = prepared<SourceRow>("list sources", select)
  const allOf = prepared<SourceRow>("list sources", `${select} where owner = ?`)
  const due = prepared<SourceRow>("list the sources to be synced", `${select} where next_sync_at <= ?`)
  const access = prepared<{ readonly access: string | null }>(
    "read what opens a source",
    "select access from sources where record_id = ?",
  )
  const claims = prepared<SourceClaimRow>(
    "list what was installed from a source",
    "select kind, name, holder, version from source_claims where source_record_id = ?",
  )
  const first = Effect.map(([row]: readonly SourceRow[]) => (row === undefined ? undefined : toSource(row)))
  return {
    find: (id: SourceId) => first(byId(id)),
    findByRecordId: (id: RecordId) => first(byRecordId(id)),
    list: (filter: { readonly owner?: UserId } = {}) =>
      Effect.map(filter.owner === undefined ? all() : allOf(filter.owner), (rows) => rows.map(toSource).sort(newestFirst)),
    due: (now: Date) => Effect.map(due(now.getTime()), (rows) => rows.map(toSource).sort(longestDueFirst)),
    access: (id: RecordId) => Effect.map(access(id), ([row]) => row?.access ?? undefined),
    claims: (id: RecordId) => Effect.map(claims(id), (rows) => rows.map(toSourceClaim).sort(byClaimKey)),
  }
}
