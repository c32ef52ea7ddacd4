import { type Group, type Range, type User, type UserId } from "@rangewright/domain"
import { Groups, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type AccessChange, changeAccess } from "../range/change-access.ts"
import { endRevocations } from "../rights/revocation-pending.ts"
import { type Outcome, reasonOf } from "../wire/bulk.ts"

/** The ranges that the group has. */
export const rangesOfGroup = (group: Group) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const ranges = yield* Ranges
    const owned = new Set<string>(yield* groups.ranges(group.name))
    return (yield* ranges.list()).filter((range): range is Range => owned.has(range.id))
  })

/**
 * Applies the change for all users that were not refused at once, so that each router is updated once. A failure is a failure for all of
 * them.
 */
export const changeTogether = <R>(
  group: Group,
  decisions: readonly Outcome[],
  change: Omit<AccessChange<R>, "ranges" | "routers">,
) =>
  Effect.gen(function* () {
    if (change.users.length === 0) return decisions
    const result = yield* Effect.result(changeAccess({ ...change, ranges: yield* rangesOfGroup(group), routers: "must" }))
    if (Result.isSuccess(result)) return decisions
    const reason = reasonOf(result.failure)
    const concerned = new Set<string>(change.users.map((user) => user.id))
    return decisions.map((outcome): Outcome => (concerned.has(outcome.item) ? { ...outcome, refused: reason } : outcome))
  })

/** Items for which there was nothing to do are done only once the hypervisor has applied the revocation too; otherwise they are refused. */
export const unlessPending = (
  outcomes: readonly Outcome[],
  { items, ...revocation }: { readonly doing: string; readonly by: UserId; readonly items: readonly string[] },
  users: readonly User[],
) =>
  Effect.gen(function* () {
    if (items.length === 0) return outcomes
    const ended = yield* Effect.result(endRevocations(revocation, users))
    if (Result.isSuccess(ended)) return outcomes
    const refused = reasonOf(ended.failure)
    return outcomes.map((outcome): Outcome =>
      items.includes(outcome.item) && outcome.refused === undefined ? { ...outcome, refused } : outcome,
    )
  })
