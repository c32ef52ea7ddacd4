import type { User } from "@rangewright/domain"
import { Groups, Quotas, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { userRecord } from "../wire/user.ts"

/** The ranges that the user has directly, ascending by number; not those of the user's groups. */
export const directRangesOf = (user: User) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const grants = yield* ranges.grantsOf(user.id)
    const direct = new Set(grants.flatMap(({ rangeId, accessType }) => (accessType === "Direct" ? [rangeId] : [])))
    return direct.size === 0 ? [] : (yield* ranges.list({ for: user.id })).filter((range) => direct.has(range.id))
  })

/** The user as a record, including the user's ranges and groups. */
export const recordOfUser = (user: User, options: { readonly withEmail: boolean }) =>
  Effect.gen(function* () {
    const groupStore = yield* Groups
    const quotas = yield* Quotas
    const groups = (yield* groupStore.memberships(user.id)).map(({ group }) => group)
    return userRecord(user, { ranges: yield* directRangesOf(user), groups, limits: yield* quotas.ofUser(user.id) }, options)
  })
