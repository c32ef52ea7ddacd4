import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { newApiKey } from "../accounts/identity.ts"
import { operation } from "../operation/operation.ts"

/** A GET that changes something: clients rely on it. It is audited like every change. */
export const getApiKey = operation({
  id: "getAPIKey",
  route: "GET /user/apikey",
  group: "User",
  does: "replace an API key",
  summary: "Replace the user's API key",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  refusesSession: true,
  mutates: true,
  query: { userID: Schema.optionalKey(Schema.String) },
  output: {
    type: "json",
    status: 201,
    schema: Schema.Struct({
      result: Schema.Struct({ apiKey: Schema.String, userID: Schema.String }).annotate({ identifier: "UserAPIKeyObject" }),
    }),
  },
  statuses: { 201: "the new key; the old one no longer works" },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const users = yield* Users
      const { key, hash } = yield* newApiKey(user.id)
      yield* users.setSecrets(user.id, { apiKeyHash: hash })
      return { result: { apiKey: key, userID: user.id } }
    }),
})
