import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../../operation/operation.ts"
import { AnyObject } from "../../wire/common.ts"

const Switch = { enabled: Schema.Boolean, duration: Schema.Int }

export const recordAuthMethods = operation({
  id: "recordAuthMethods",
  route: "GET /api/collections/users/auth-methods",
  base: "/",
  group: "User",
  origin: "page",
  does: "list the ways to log in",
  summary: "The ways to log in",
  access: "anonymous",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Struct({
      password: Schema.Struct({ identityFields: Schema.Array(Schema.String), enabled: Schema.Boolean }),
      oauth2: Schema.Struct({ providers: Schema.Array(AnyObject), enabled: Schema.Boolean }),
      mfa: Schema.Struct(Switch),
      otp: Schema.Struct(Switch),
      authProviders: Schema.Array(AnyObject),
      usernamePassword: Schema.Boolean,
      emailPassword: Schema.Boolean,
    }),
  },
  statuses: { 200: "the ways to log in" },
  handle: () =>
    Effect.succeed({
      password: { identityFields: ["email"], enabled: true },
      oauth2: { providers: [], enabled: false },
      mfa: { enabled: false, duration: 0 },
      otp: { enabled: false, duration: 0 },
      authProviders: [],
      usernamePassword: false,
      emailPassword: true,
    }),
})
