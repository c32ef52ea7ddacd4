import type { RangeId, UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { removeUser } from "../accounts/remove-user.ts"
import { operation } from "../operation/operation.ts"
import { untoldRouters } from "../range/router-access.ts"
import { TextResult } from "../wire/common.ts"
import { revocationPending, waitCutShort } from "../wire/statuses.ts"

/** The text about ranges that still exist; none if there are none. */
const stayingRanges = (ranges: readonly RangeId[]): readonly string[] => {
  const [first, ...more] = ranges
  if (first === undefined) return []
  return [
    more.length === 0
      ? `range ${first} stays with its VMs: DELETE /range?rangeID=${encodeURIComponent(first)}&force=true removes it`
      : `ranges ${ranges.join(", ")} stay with their VMs: remove them one by one with DELETE /range?rangeID=ID&force=true`,
  ]
}

export const deleteUser = operation({
  id: "deleteUser",
  route: "DELETE /user/{userID}",
  group: "User",
  does: "delete users",
  summary: "Remove a user, and the user's default range when asked to",
  access: "admin",
  target: "none",
  path: { userID: Schema.String },
  // only the exact text `true` deletes a range; everything else keeps it
  query: { deleteDefaultRange: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the user and the account were deleted; the answer names ranges that stay, and routers that could not be reached: they are updated as soon as they can be",
    400: "administrators cannot delete themselves; ROOT cannot be deleted",
    404: "no user has this ID",
    409: `the default range is not the user's own, or could not be deleted; ${waitCutShort}`,
    502: `the default range could not be deleted; ${revocationPending}`,
  },
  handle: ({ path, query, caller }) =>
    Effect.gen(function* () {
      const withRange = query.deleteDefaultRange === "true"
      const { untold, staying } = yield* removeUser(path.userID as UserId, caller, { deleteDefaultRange: withRange })
      const done = withRange ? `User ${path.userID} and their default range deleted` : `User ${path.userID} deleted`
      return { result: [done, ...stayingRanges(staying), ...untoldRouters(untold)].join("; ") }
    }),
})
