import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { installRole as install, removeRole, roleRequirement } from "../ansible/install-role.ts"
import { hostFailures, scopeOf } from "../ansible/installed.ts"
import { mayChangeArtifacts } from "../ansible/may-change.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { diskLimitReached } from "../wire/statuses.ts"

export const installRole = operation({
  id: "InstallRole",
  route: "POST /ansible/role",
  group: "Ansible",
  does: "install or remove a role",
  summary: "Install a role by its name or its URL, with the roles that it needs; or remove one",
  access: "user",
  accessNote: "administrators when global or restricted",
  target: "none",
  recordedFirst: true,
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      role: Schema.String,
      version: Schema.optionalKey(Schema.String),
      action: Schema.Literals(["install", "remove"]),
      force: Schema.optionalKey(Schema.Boolean),
      global: Schema.optionalKey(Schema.Boolean),
    }),
  },
  output: { type: "json", schema: TextResult, status: 201 },
  statuses: {
    201: "the role is installed, or removed",
    400: "the action is unknown or missing; the role's name is not valid; core roles stay; the body is malformed or wrongly typed",
    403: `the hypervisor's own account may not do this; role only administrators may make changes; global needs an administrator; ${diskLimitReached}`,
    409: "the role that is to be removed is not installed",
    500: "the role is not available, or is installed in another version; something that it needs is not available; the store or the library does not work",
  },
  handle: ({ body, user }) =>
    Effect.gen(function* () {
      const { role, version = "", action, force = false, global = false } = body
      yield* mayChangeArtifacts(user, { global })
      const scope = scopeOf(user, global)
      const argument = version === "" ? role : `${role},${version}`
      if (action === "remove") {
        yield* hostFailures(removeRole(role, scope))
        return { result: `Successfully removed: ${argument}` }
      }
      yield* install(roleRequirement(role, version), scope, force)
      return { result: `Successfully installed: ${argument}` }
    }),
})
