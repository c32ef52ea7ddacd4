import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { signedIn, SignedIn } from "../wire/session.ts"

export const getSession = operation({
  id: "getSession",
  route: "GET /session",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "read who is signed in",
  summary: "Who is signed in, even when acting as another user",
  access: "user",
  target: "none",
  output: { type: "json", schema: SignedIn },
  statuses: { 200: "the caller; sessionID is null when a key or a token was sent" },
  handle: ({ caller, session }) => Effect.succeed(signedIn(caller, session)),
})
