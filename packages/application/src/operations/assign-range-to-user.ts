import { Conflict, type UserId, UserNotFound } from "@rangewright/domain"
import { Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { changeAccess } from "../range/change-access.ts"
import { TextResult } from "../wire/common.ts"
import { hypervisorAway, waitCutShort } from "../wire/statuses.ts"

export const assignRangeToUser = operation({
  id: "assignRangeToUser",
  route: "POST /ranges/assign/{userID}/{rangeID}",
  group: "Range",
  does: "assign ranges to users",
  summary: "Give a user access to a range, including on its router and the hypervisor",
  access: "admin",
  target: "range-in-path",
  wholeKeyOnly: true,
  path: { userID: Schema.String, rangeID: Schema.String },
  output: { type: "json", schema: TextResult, status: 201 },
  statuses: {
    201: "the user may use the range",
    404: "no range or no user has this ID",
    409: `the user has the range already; its router is off; a run is changing the range; ${waitCutShort}`,
    500: "the router's rules could not be changed",
    502: hypervisorAway,
  },
  handle: ({ path, range, caller }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const users = yield* Users
      const doing = `assign range ${range.id} to user ${path.userID.slice(0, 64)}`
      const user = yield* users.find(path.userID as UserId)
      if (user === undefined) return yield* new UserNotFound({ userId: path.userID.slice(0, 64) })
      const held = new Conflict({ what: `Cannot ${doing}: the user has access to it already` })
      if ((yield* ranges.grants(range.id)).some((grant) => grant.userId === user.id)) return yield* held
      yield* changeAccess({
        doing,
        by: caller.id,
        users: [user],
        ranges: [range],
        // what another request gave in the meantime must not be undone if this one fails
        store: Effect.flatMap(ranges.grant(range.id, user.id), (given) => (given ? Effect.void : Effect.fail(held))),
        undo: ranges.revoke(range.id, user.id),
        routers: "must",
      })
      return { result: `Range ${range.id} assigned to user ${user.id} successfully` }
    }),
})
