import { type Group, type Range } from "@rangewright/domain"
import { Groups, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AccessChange, changeAccess } from "../range/change-access.ts"
import { type Outcome, reasonOf } from "../wire/bulk.ts"

/** The ranges that the group has. */
export const rangesOfGroup = (group: Group) =>
  Effect.gen(function* () {
    const owned = new Set<string>(yield* (yield* Groups).ranges(group.name))
    return (yield* (yield* Ranges).list()).filter((range): range is Range => owned.has(range.id))
  })

/** Does what was judged possible in one go: each range's router is told once, however many users come or go. When it fails, it fails for all of them. */
export const changeTogether = <R>(
  group: Group,
  judged: readonly Outcome[],
  change: Omit<AccessChange<R>, "ranges" | "routers">,
) =>
  Effect.gen(function* () {
    if (change.users.length === 0) return judged
    const result = yield* Effect.result(changeAccess({ ...change, ranges: yield* rangesOfGroup(group), routers: "must" }))
    if (Result.isSuccess(result)) return judged
    const reason = reasonOf(result.failure)
    const concerned = new Set<string>(change.users.map((user) => user.id))
    return judged.map((outcome): Outcome => (concerned.has(outcome.item) ? { ...outcome, refused: reason } : outcome))
  })
