import { Conflict, type UserId } from "@rangewright/domain"
import { Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { changeAccess } from "../range/change-access.ts"
import { untoldRouters } from "../range/router-access.ts"
import { TextResult } from "../wire/common.ts"
import { BooleanText } from "../wire/parameters.ts"
import { revocationPending, waitCutShort } from "../wire/statuses.ts"

export const revokeRangeFromUser = operation({
  id: "revokeRangeFromUser",
  route: "DELETE /ranges/revoke/{userID}/{rangeID}",
  group: "Range",
  does: "revoke ranges from users",
  summary: "Revoke a user's access to a range, including on its router and the hypervisor",
  access: "admin",
  target: "range-in-path",
  wholeKeyOnly: true,
  path: { userID: Schema.String, rangeID: Schema.String },
  query: { force: Schema.optionalKey(BooleanText) },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the user may no longer use the range; with force a router that cannot be reached is updated as soon as it can be",
    400: "force is not a boolean",
    409: `the user was not given the range; its router is off and force is not set; a run is changing the range; ${waitCutShort}`,
    500: "the router's rules could not be changed: the access is gone here and on the hypervisor, and the router is updated as soon as it can be",
    502: revocationPending,
  },
  handle: ({ path, query, range, caller }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const users = yield* Users
      const doing = `revoke range ${range.id} from user ${path.userID.slice(0, 64)}`
      const held = (yield* ranges.grants(range.id)).filter(({ userId }) => userId === path.userID)
      const user = yield* users.find(path.userID as UserId)
      if (user === undefined || !held.some(({ accessType }) => accessType === "Direct"))
        return yield* held.length === 0
          ? new Conflict({ what: `Cannot ${doing}: the user was not given it` })
          : new Conflict({
              what: `Cannot ${doing}: they have it through a group`,
              hint: "Remove the user from the group, or the range from it.",
            })
      const untold = yield* changeAccess({
        doing,
        by: caller.id,
        users: [user],
        ranges: [range],
        store: ranges.revoke(range.id, user.id),
        undo: undefined,
        routers: query.force === true ? "may" : "must",
      })
      return { result: [`Range ${range.id} revoked from user ${user.id} successfully`, ...untoldRouters(untold)].join("; ") }
    }),
})
