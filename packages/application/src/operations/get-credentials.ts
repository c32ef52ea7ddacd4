import { NotFound, userPasswordContext } from "@rangewright/domain"
import { SecretStore, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"

const UserCredentialObject = Schema.Struct({
  ludusEmail: Schema.optionalKey(Schema.String),
  proxmoxUsername: Schema.optionalKey(Schema.String),
  proxmoxRealm: Schema.optionalKey(Schema.String),
  proxmoxPassword: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "UserCredentialObject" })

/** Audited, to record who read whose password. */
export const getCredentials = operation({
  id: "getCredentials",
  route: "GET /user/credentials",
  group: "User",
  does: "read a login on the hypervisor",
  summary: "The user's login on the hypervisor",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  recordedFirst: true,
  // the password would turn a stolen session into a lasting way in
  refusesSession: true,
  query: { userID: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: Schema.Struct({ result: UserCredentialObject }) },
  statuses: { 200: "the hypervisor login", 404: "the user has no hypervisor login", 502: "the stored password cannot be read" },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const users = yield* Users
      const secrets = yield* SecretStore
      const found = yield* users.forAuthentication(user.id)
      const sealed = found?.secrets.sealedPassword
      if (sealed === undefined) return yield* new NotFound({ what: `User ${user.id} has no hypervisor login` })
      const password = yield* secrets.open(sealed, userPasswordContext(user.id))
      return {
        result: {
          ludusEmail: user.email,
          proxmoxUsername: user.hypervisorUsername,
          proxmoxRealm: user.hypervisorRealm,
          proxmoxPassword: password,
        },
      }
    }),
})
