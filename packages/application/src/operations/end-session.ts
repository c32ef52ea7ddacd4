import { Sessions } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

/** Anonymous, so that a browser can remove the cookie of a session that has ended. */
export const endSession = operation({
  id: "endSession",
  route: "DELETE /session",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "end the session of this browser",
  summary: "Sign out: end the session that the request was sent with, and remove its cookie",
  access: "anonymous",
  target: "none",
  output: { type: "session", schema: TextResult },
  statuses: {
    200: "the session has ended, or there was none",
    403: "the request comes from a page that is not the service's",
    500: "unexpected server failure",
  },
  handle: ({ session }) =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      if (session === undefined) return { json: { result: "No session was open" }, cookies: { session: undefined } }
      yield* sessions.end(session)
      return { json: { result: "Signed out" }, cookies: { session: undefined } }
    }),
})
