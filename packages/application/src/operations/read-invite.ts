import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { Invitation, invitedBy } from "../sign-in/invitation.ts"

/** So that the page shows whom the service invited, and not whom the link names: anybody may have written it. */
export const readInvite = operation({
  id: "readInvite",
  route: "POST /invite",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "read an invitation",
  summary: "Whom an invitation is for; nothing changes, and the invitation stays valid",
  access: "anonymous",
  target: "none",
  mutates: false,
  body: { type: "json", required: true, schema: Schema.Struct({ invite: Invitation }), maxBytes: 8192 },
  output: { type: "json", schema: Schema.Struct({ userID: Schema.String }) },
  statuses: {
    200: "the user who sets a password with it",
    400: "the field is missing",
    401: "the invitation is not valid any more",
    413: "the body is larger than 8192 bytes",
  },
  handle: ({ body }) => Effect.map(invitedBy(body.invite), ({ user }) => ({ userID: user.id })),
})
