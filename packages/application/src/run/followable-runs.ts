import { type Range, type User } from "@rangewright/domain"
import { Ranges, type RunFilter, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { followable } from "./find-run.ts"

/** Runs of sources and blueprints per read. */
const batch = 500

const newestFirst = (a: RunRecord, b: RunRecord): number => b.ordinal - a.ordinal

/** Runs of subjects other than ranges that the user may follow: at least `limit`, unless there are no more. */
const othersOf = Effect.fnUntraced(function* (filter: RunFilter, user: User) {
  const journal = yield* RunJournal
  const found: RunRecord[] = []
  let { before } = filter
  for (;;) {
    const page = before === undefined ? {} : { before }
    const runs = yield* journal.list({ ...filter, types: ["source", "blueprint"], limit: batch, ...page })
    found.push(...(yield* followable(runs, user)))
    before = runs.at(-1)?.ordinal
    if (runs.length < batch || found.length >= filter.limit) return found
  }
})

/** The newest runs of a range, or of everything that the user may follow, that pass the filter. */
export const followableRuns = Effect.fnUntraced(function* (filter: RunFilter, user: User, range: Range | undefined) {
  const journal = yield* RunJournal
  const store = yield* Ranges
  if (range !== undefined) return yield* journal.list({ ...filter, ranges: [range.id] })
  if (user.isAdmin) return yield* journal.list(filter)
  const grants = yield* store.grantsOf(user.id)
  const ranges = [...new Set(grants.map((grant) => grant.rangeId))]
  const all = [...(yield* journal.list({ ...filter, ranges })), ...(yield* othersOf(filter, user))]
  return all.toSorted(newestFirst).slice(0, filter.limit)
})
