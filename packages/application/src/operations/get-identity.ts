import { Identities } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { wireTime } from "../wire/common.ts"

export const getIdentity = operation({
  id: "getIdentity",
  route: "GET /user/identity",
  group: "User",
  origin: "ours",
  does: "read which person a user is connected to",
  summary: "The person at the identity provider that the user is connected to",
  access: "user",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Struct({
      identities: Schema.Array(
        Schema.Struct({ issuer: Schema.String, subject: Schema.String, createdAt: Schema.String }).annotate({
          identifier: "IdentityObject",
        }),
      ),
    }),
  },
  statuses: { 200: "the people who sign in as the user, at most one for each provider" },
  handle: ({ user }) =>
    Effect.map(
      Identities.use((identities) => identities.ofUser(user.id)),
      (all) => ({
        identities: all.map(({ issuer, subject, createdAt }) => ({ issuer, subject, createdAt: wireTime(createdAt) })),
      }),
    ),
})
