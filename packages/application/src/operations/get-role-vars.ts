import { isArtifactName, readRoleVariables, roleVariableFiles, type User } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { hostFailures, scopeOf, textsOf } from "../ansible/installed.ts"
import { longWork } from "../operation/long-work.ts"
import { operation } from "../operation/operation.ts"
import { AnyObject } from "../wire/common.ts"
import { itemsOf } from "../wire/bulk.ts"

const mostRoles = 1000

const RoleVariable = Schema.Struct({
  name: Schema.String,
  type: Schema.optionalKey(Schema.String),
  elements: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  required: Schema.optionalKey(Schema.Boolean),
  default: Schema.optionalKey(Schema.Unknown),
  choices: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  /** The keys of a dictionary, each as a variable. */
  options: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  /** The entry point of the role that takes it; absent: the default one. */
  entry_point: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "RoleVariable" })

const RoleVars = Schema.Struct({
  name: Schema.String,
  global: Schema.optionalKey(Schema.Boolean),
  vars: AnyObject,
  variables: Schema.optionalKey(Schema.Array(RoleVariable)),
}).annotate({ identifier: "RoleVars" })

/** The user's copy takes precedence over the global one. A role that is not installed has no variables. */
const variablesOf = (user: User, name: string) =>
  Effect.gen(function* () {
    if (!isArtifactName("role", name)) return { name, vars: {} }
    for (const global of [false, true]) {
      const texts = yield* textsOf("role", name, scopeOf(user, global), roleVariableFiles)
      if (texts === undefined) continue
      const { defaults, variables } = yield* longWork(() => readRoleVariables((path) => texts.get(path)))
      const told = variables.map(({ entryPoint, ...variable }) =>
        entryPoint === undefined ? variable : { ...variable, entry_point: entryPoint },
      )
      return { name, ...(global ? { global } : {}), vars: defaults, variables: told }
    }
    return { name, vars: {} }
  })

export const getRoleVars = operation({
  id: "GetRoleVars",
  route: "POST /ansible/role/vars",
  group: "Ansible",
  does: "read the variables of roles",
  summary: "The default variables of roles, and what the roles say about each variable",
  access: "user",
  target: "none",
  mutates: false,
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ roles: Schema.Array(Schema.String).check(Schema.isMaxLength(mostRoles)) }),
  },
  output: { type: "json", schema: Schema.Struct({ roles: Schema.Array(RoleVars) }) },
  statuses: {
    200: "the variables of each role, in the order of the request",
    400: "no role is named; the body is malformed or wrongly typed",
  },
  handle: ({ body, user }) =>
    Effect.gen(function* () {
      const names = yield* itemsOf("show variables", "roles", body.roles)
      const read = yield* hostFailures(Effect.forEach(names, (name) => variablesOf(user, name)))
      const byName = new Map(read.map((one) => [one.name, one]))
      // one answer for each name that was sent: clients may read them by their position
      return { roles: body.roles.flatMap((name) => byName.get(name.trim()) ?? []) }
    }),
})
