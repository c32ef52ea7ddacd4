import { hasSessionEnded } from "@rangewright/domain"
import { Sessions } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { sessionObject, SessionObject } from "../wire/session.ts"

export const listSessions = operation({
  id: "listSessions",
  route: "GET /sessions",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "list the sessions of a user",
  summary: "The browsers in which the user is signed in, newest first",
  access: "user",
  target: "none",
  output: { type: "json", schema: Schema.Array(SessionObject) },
  statuses: { 200: "every open session" },
  handle: ({ user, session }) =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const now = new Date(yield* Clock.currentTimeMillis)
      const all = yield* sessions.of(user.id)
      return all.filter((one) => !hasSessionEnded(one, now)).map((one) => sessionObject(one, session))
    }),
})
