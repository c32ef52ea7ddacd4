import { NotFound } from "@rangewright/domain"
import { ScopedKeys } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

export const deleteScopedKey = operation({
  id: "deleteScopedKey",
  route: "DELETE /user/keys/{keyID}",
  group: "User",
  origin: "ours",
  does: "remove an API key",
  summary: "Remove one of the user's further API keys, or as an administrator anybody's: it stops working immediately",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  path: { keyID: Schema.String },
  output: { type: "json", schema: TextResult },
  statuses: { 200: "the key no longer works", 404: "the user has no such key" },
  handle: ({ path, caller, user }) =>
    Effect.gen(function* () {
      const keys = yield* ScopedKeys
      if (!(yield* keys.remove(caller.isAdmin ? undefined : user.id, path.keyID)))
        return yield* new NotFound({
          what: `Cannot remove the API key: ${caller.isAdmin ? "nobody" : `user ${user.id}`} has ${caller.isAdmin ? "one" : "none"} with this id`,
          hint: "GET /user/keys lists them.",
        })
      return { result: `API key ${path.keyID} removed` }
    }),
})
