import { Sessions } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

export const endAllSessions = operation({
  id: "endAllSessions",
  route: "DELETE /sessions",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "end all sessions of a user",
  summary: "Sign the user out in every browser, this one too",
  access: "user",
  target: "none",
  output: { type: "json", schema: TextResult },
  statuses: { 200: "all sessions of the user have ended" },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const ended = yield* sessions.end({ userId: user.id })
      return { result: `${ended} ${ended === 1 ? "session has" : "sessions have"} ended` }
    }),
})
