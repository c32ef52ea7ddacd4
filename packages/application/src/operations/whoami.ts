import { Groups, Quotas, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { directRangesOf } from "../accounts/user-record.ts"
import { operation } from "../operation/operation.ts"
import { RangeRecord, rangeRecord } from "../wire/range-record.ts"
import { groupRecord } from "../wire/group.ts"
import { UserRecord, userRecord } from "../wire/user.ts"

export const whoami = operation({
  id: "whoami",
  route: "GET /whoami",
  group: "User",
  does: "read who the caller is",
  summary: "The user acted as, and the range selected",
  access: "user",
  target: "none",
  query: { rangeID: Schema.optionalKey(Schema.String), userID: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: Schema.Struct({ user: UserRecord, range: Schema.NullOr(RangeRecord) }) },
  statuses: { 200: "the user and the selected range", 403: "the user may not use the range", 404: "the range named is unknown" },
  handle: ({ caller, user, range }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const groupStore = yield* Groups
      const quotas = yield* Quotas
      const own = yield* directRangesOf(user)
      const groups = (yield* groupStore.memberships(user.id)).map(({ group }) => group)
      const usable = yield* ranges.overview({ for: user.id })
      const selected = range ?? usable.find((o) => o.range.id === user.defaultRangeId)?.range
      const seen = [...usable, ...(selected === undefined ? [] : yield* ranges.overview({ rangeId: selected.id }))]
      const counts = new Map(seen.map((o) => [o.range.id, o.machines.length]))
      const limits = yield* quotas.ofUser(user.id)
      return {
        user: {
          ...userRecord(user, { ranges: own, groups, limits }, { withEmail: caller.isAdmin || caller.id === user.id }),
          expand: { ranges: own.map((r) => rangeRecord(r, counts.get(r.id) ?? 0)), groups: groups.map(groupRecord) },
        },
        range: selected === undefined ? null : rangeRecord(selected, counts.get(selected.id) ?? 0),
      }
    }),
})
