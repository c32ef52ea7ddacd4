import type { RecordId, Source, UserId } from "@rangewright/domain"
import type { SourceClaim } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Database } from "../engine/database.ts"
import { sources, toClaimOfSource, toSource, toSourceClaim } from "../records/source.ts"
import { every, first } from "../schema/table.ts"

const readAccess = sources.reader({ only: ["access"] })

/** Sorted here: the engines' collations differ. */
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
export const sourceReads = ({ prepared, list }: Database["Service"]) => {
  const select = "select * from sources"
  const all = list("list sources", select, toSource)
  const allOf = list("list sources", `${select} where owner = ?`, toSource)
  const due = list("list the sources to be synced", `${select} where next_sync_at <= ?`, toSource)
  // what one source does not claim may be removed, so none is left out
  const claims = prepared(
    "list what was installed from a source",
    "select * from source_claims where source_record_id = ?",
    every(toSourceClaim),
  )
  const allClaims = prepared(
    "list what was installed from sources",
    "select c.*, s.record_id, s.id from source_claims c left join sources s on s.record_id = c.source_record_id",
    every(toClaimOfSource),
  )
  return {
    find: prepared("find a source", `${select} where id = ?`, first(toSource)),
    findByRecordId: prepared("find a source", `${select} where record_id = ?`, first(toSource)),
    list: (filter: { readonly owner?: UserId } = {}) =>
      Effect.map(filter.owner === undefined ? all() : allOf(filter.owner), (found) => found.toSorted(newestFirst)),
    due: (now: Date) => Effect.map(due(now.getTime()), (found) => found.toSorted(longestDueFirst)),
    access: prepared(
      "read the credentials of a source",
      "select access from sources where record_id = ?",
      ([row]) => row && readAccess(row).access,
    ),
    allClaims: Effect.map(allClaims(), (found) =>
      found.toSorted((a, b) => (a.source.id === b.source.id ? byClaimKey(a, b) : a.source.id < b.source.id ? -1 : 1)),
    ),
    claims: (id: RecordId) => Effect.map(claims(id), (found) => found.toSorted(byClaimKey)),
  }
}
