import { isRecordId, NotFound } from "@rangewright/domain"
import { Sessions } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

export const endOneSession = operation({
  id: "endOneSession",
  route: "DELETE /sessions/{sessionID}",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "end a session",
  summary: "Sign the user out in one browser; administrators may end anybody's session",
  access: "user",
  target: "none",
  path: { sessionID: Schema.String },
  output: { type: "json", schema: TextResult },
  statuses: { 200: "the session has ended", 404: "the user has no such session" },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const ended = isRecordId(path.sessionID)
        ? yield* sessions.end({ id: path.sessionID, userId: user.isAdmin ? undefined : user.id })
        : 0
      if (ended === 0) return yield* new NotFound({ what: `Session not found for user ${user.id}` })
      return { result: "The session has ended" }
    }),
})
