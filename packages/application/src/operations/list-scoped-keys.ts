import { ScopedKeys } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { ScopedKeyObject, scopedKeyObject } from "../wire/scoped-key.ts"

export const listScopedKeys = operation({
  id: "listScopedKeys",
  route: "GET /user/keys",
  group: "User",
  origin: "ours",
  does: "list API keys",
  summary: "The user's further API keys, without the keys themselves",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  output: { type: "json", schema: Schema.Struct({ keys: Schema.Array(ScopedKeyObject) }) },
  statuses: { 200: "the keys, also those that have expired" },
  handle: ({ user }) =>
    Effect.map(
      ScopedKeys.use((keys) => keys.ofUser(user.id)),
      (keys) => ({ keys: keys.map(scopedKeyObject) }),
    ),
})
