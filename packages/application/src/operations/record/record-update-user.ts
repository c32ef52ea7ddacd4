import { InvalidInput, NotFound, passwordProblem, rootUserId, type FaultIssue, type RecordId } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { changePassword } from "../../accounts/change-password.ts"
import { isPasswordOf } from "../../accounts/is-password-of.ts"
import { setAdmin, whyNotTheirs } from "../../accounts/set-admin.ts"
import { recordOfUser } from "../../accounts/user-record.ts"
import { operation } from "../../operation/operation.ts"
import { SignIns } from "../../sign-in/sign-ins.ts"
import { UserRecord } from "../../wire/user.ts"
import { keptFields, withoutKept } from "./kept-fields.ts"

const refused = (path: string, message: string): InvalidInput => {
  const issue: FaultIssue = { path, message }
  return new InvalidInput({ what: "Failed to update record.", issues: [issue] })
}

const kept = {
  email: Schema.String,
  ...Struct.pick(UserRecord.fields, [
    "id",
    "avatar",
    "emailVisibility",
    "verified",
    "userID",
    "userNumber",
    "proxmoxUsername",
    "proxmoxRealm",
    "quotaRAM",
    "quotaCPU",
    "quotaStorage",
    "quotaVMs",
    "quotaRanges",
    "defaultRangeID",
    "ranges",
    "groups",
  ]),
}
const quotas = "PUT /user/quotas"
const elsewhere = {
  quotaRAM: quotas,
  quotaCPU: quotas,
  quotaVMs: quotas,
  quotaRanges: quotas,
  defaultRangeID: "POST /user/default-range",
}

/** Changes name, onboarding flag and own password; `isAdmin` only by administrators, never one's own and never the last administrator's. */
export const recordUpdateUser = operation({
  id: "recordUpdateUser",
  route: "PATCH /api/collections/users/records/{id}",
  base: "/",
  group: "User",
  origin: "page",
  does: "change a user",
  summary: "Change a user's name, password or role",
  access: "user",
  accessNote: "self, or an administrator",
  target: "none",
  path: { id: Schema.String },
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      name: Schema.optionalKey(Schema.String),
      hasCompletedOnboarding: Schema.optionalKey(Schema.Boolean),
      oldPassword: Schema.optionalKey(Schema.String),
      password: Schema.optionalKey(Schema.String),
      passwordConfirm: Schema.optionalKey(Schema.String),
      isAdmin: Schema.optionalKey(Schema.Boolean),
      ...keptFields(kept),
    }),
  },
  audited: ["isAdmin"],
  output: { type: "json", schema: UserRecord },
  statuses: {
    200: "the user as it is now",
    400: "a field is not valid, or cannot be changed here",
    401: "no valid credentials",
    404: "no such record, or not the caller's to change",
    502: "the hypervisor is unreachable or refused the password",
  },
  handle: ({ path, body: sent, user, meta }) =>
    Effect.gen(function* () {
      const users = yield* Users
      const signIns = yield* SignIns
      const target = yield* users.findByRecordId(path.id as RecordId)
      if (target === undefined || target.id === rootUserId || (target.id !== user.id && !user.isAdmin))
        return yield* new NotFound({ what: "The requested resource wasn't found." })
      const body = yield* withoutKept(kept, sent, yield* recordOfUser(target, { withEmail: true }), elsewhere)
      const rights = body.isAdmin === target.isAdmin ? undefined : body.isAdmin
      if (rights !== undefined && (!user.isAdmin || whyNotTheirs(target, user) !== undefined))
        return yield* refused("isAdmin", "only another administrator may change this")
      if (body.name !== undefined && (body.name.trim() === "" || body.name.length > 255))
        return yield* refused("name", "1 to 255 characters are needed")
      if (body.password !== undefined) {
        const problem = passwordProblem(body.password, [target.id, target.name, target.email])
        if (problem !== undefined) return yield* refused("password", problem)
        if (body.password !== body.passwordConfirm) return yield* refused("passwordConfirm", "it differs from the password")
        if (!user.isAdmin || target.id === user.id) {
          const right = Effect.map(isPasswordOf(target, body.oldPassword ?? ""), (is) => ({ user: target, right: is }))
          const attempt = { operation: "recordUpdateUser", account: target.email, address: meta.remote }
          const known = yield* signIns
            .attempt(attempt, right)
            .pipe(Effect.catchTag("TooManyAttempts", ({ message }) => Effect.fail(refused("oldPassword", message))))
          if (known === undefined) return yield* refused("oldPassword", "it is not the current password")
        }
      }
      if (rights !== undefined)
        yield* Effect.catchTag(setAdmin(target, rights, user), "LastAdministrator", ({ hint }) =>
          Effect.fail(refused("isAdmin", `no other administrator would be left. ${hint}`)),
        )
      if (body.password !== undefined) yield* changePassword(target, body.password, user.id)
      const changed = yield* users.change(target.id, {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.hasCompletedOnboarding === undefined ? {} : { hasCompletedOnboarding: body.hasCompletedOnboarding }),
      })
      return yield* recordOfUser(changed, { withEmail: true })
    }),
})
