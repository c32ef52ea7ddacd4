import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { removeGroup } from "../group/remove-group.ts"
import { operation } from "../operation/operation.ts"
import { untoldRouters } from "../range/router-access.ts"
import { TextResult } from "../wire/common.ts"
import { revocationPending, waitCutShort } from "../wire/statuses.ts"

export const deleteGroup = operation({
  id: "deleteGroup",
  route: "DELETE /groups/{groupName}",
  group: "Group",
  does: "delete groups",
  summary: "Delete a group, and the access that its users had only through it",
  access: "admin",
  target: "group-in-path",
  path: { groupName: Schema.String },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the group was deleted; routers that could not be reached are updated as soon as they can be",
    409: waitCutShort,
    502: revocationPending,
  },
  handle: ({ group, caller }) =>
    Effect.map(removeGroup(group, caller), (untold) => ({
      result: [`Group ${group.name} deleted`, ...untoldRouters(untold)].join("; "),
    })),
})
