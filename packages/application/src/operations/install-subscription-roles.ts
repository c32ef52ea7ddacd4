import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { scopeOf } from "../ansible/installed.ts"
import { mayChangeArtifacts } from "../ansible/may-change.ts"
import { operation } from "../operation/operation.ts"
import { installSubscriptionRoles as installRoles, requireSubscription } from "../subscription/install-roles.ts"
import { reasonOf } from "../wire/bulk.ts"

export const installSubscriptionRoles = operation({
  id: "installSubscriptionRoles",
  route: "POST /ansible/subscription-roles",
  group: "Ansible",
  does: "install subscription roles",
  summary: "Install roles offered to subscribers, for yourself or for everybody; an installed copy stays unless force is set",
  access: "user",
  accessNote: "needs a licence of subscribers; administrators when global or restricted",
  target: "none",
  recordedFirst: true,
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      roles: Schema.Array(Schema.String),
      global: Schema.optionalKey(Schema.Boolean),
      force: Schema.optionalKey(Schema.Boolean),
    }),
  },
  output: {
    type: "json",
    schema: Schema.Struct({
      success: Schema.Array(Schema.String),
      errors: Schema.Array(Schema.Struct({ role: Schema.String, reason: Schema.String })),
    }),
  },
  statuses: {
    200: "the outcome for each role, even if none could be installed",
    400: "the body is malformed or wrongly typed",
    403: "the licence in force includes no subscription roles; role only administrators may make changes; global needs an administrator",
  },
  handle: ({ body, user }) =>
    Effect.gen(function* () {
      const license = yield* requireSubscription
      const global = body.global ?? false
      yield* mayChangeArtifacts(user, { global })
      const names = [...new Set(body.roles.map((name) => name.trim()))].filter((name) => name !== "")
      const target = { scope: scopeOf(user, global), force: body.force ?? false }
      const outcomes = yield* installRoles(names, license, target).pipe(
        // an unreachable registry is reported as the failure of each role
        Effect.catch((fault) => Effect.succeed(names.map((role) => ({ role, refused: reasonOf(fault) })))),
      )
      return {
        success: outcomes.flatMap((outcome) => ("refused" in outcome ? [] : [outcome.role])),
        errors: outcomes.flatMap((outcome) => ("refused" in outcome ? [{ role: outcome.role, reason: outcome.refused }] : [])),
      }
    }),
})
