import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { provisionUser } from "../accounts/provision-user.ts"
import { operation } from "../operation/operation.ts"
import { wireTime } from "../wire/common.ts"
import { waitCutShort } from "../wire/statuses.ts"

export const addUser = operation({
  id: "addUser",
  route: "POST /user",
  group: "User",
  does: "add users",
  summary: "Add a user, with a hypervisor account and a default range",
  access: "admin",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      name: Schema.String,
      userID: Schema.String,
      email: Schema.String,
      isAdmin: Schema.optionalKey(Schema.Boolean),
      password: Schema.optionalKey(Schema.String),
    }),
  },
  audited: ["userID", "isAdmin"],
  output: {
    type: "json",
    status: 201,
    schema: Schema.Struct({
      userID: Schema.String,
      name: Schema.String,
      isAdmin: Schema.Boolean,
      proxmoxUsername: Schema.String,
      apiKey: Schema.String,
      dateCreated: Schema.String,
      dateLastActive: Schema.String,
    }),
  },
  statuses: {
    201: "the user was created; the key is shown only now",
    400: "a field is missing or not allowed; the user ID is reserved or taken; the account name is taken on the hypervisor; the password is too short",
    401: "no valid credentials; the caller is not an administrator",
    // clients expect 401 for this
    403: undefined,
    409: waitCutShort,
    502: "the hypervisor is unreachable or refused the account",
  },
  handle: ({ body, caller }) =>
    Effect.gen(function* () {
      const { user, apiKey } = yield* provisionUser(
        {
          userId: body.userID,
          name: body.name,
          email: body.email,
          password: body.password,
          isAdmin: body.isAdmin ?? false,
        },
        caller.id,
      )
      return {
        userID: user.id,
        name: user.name,
        isAdmin: user.isAdmin,
        proxmoxUsername: user.hypervisorUsername,
        apiKey,
        dateCreated: wireTime(user.createdAt),
        dateLastActive: wireTime(user.lastActiveAt),
      }
    }),
})
