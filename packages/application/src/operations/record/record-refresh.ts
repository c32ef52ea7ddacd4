import { operation } from "../../operation/operation.ts"
import { AuthResult, authResult } from "../../wire/auth-result.ts"

export const recordRefresh = operation({
  id: "recordRefresh",
  route: "POST /api/collections/users/auth-refresh",
  base: "/",
  group: "User",
  origin: "page",
  does: "renew a token",
  summary: "A fresh token for the caller",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  mutates: false,
  output: { type: "json", schema: AuthResult },
  statuses: { 200: "a fresh token, and the user's record", 401: "no valid credentials" },
  handle: ({ caller }) => authResult(caller),
})
