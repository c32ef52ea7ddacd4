import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { hostFailures } from "../ansible/installed.ts"
import { moveRoles } from "../ansible/move-role.ts"
import { operation } from "../operation/operation.ts"
import { actingAs } from "../source/visible-source.ts"
import { itemsOf } from "../wire/bulk.ts"

export const moveRoleScope = operation({
  id: "MoveRoleScope",
  route: "PATCH /ansible/role/scope",
  group: "Ansible",
  does: "move roles between users and everybody",
  summary: "Move a user's roles to everybody, or everybody's roles to a user; with copy they also stay where they were",
  access: "admin",
  target: "none",
  recordedFirst: true,
  query: actingAs,
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      roles: Schema.Array(Schema.String),
      global: Schema.optionalKey(Schema.Boolean),
      copy: Schema.optionalKey(Schema.Boolean),
    }),
  },
  output: {
    type: "json",
    schema: Schema.Struct({
      success: Schema.Array(Schema.String),
      errors: Schema.Array(Schema.Struct({ role: Schema.String, error: Schema.String })),
    }),
  },
  statuses: {
    200: "the outcome for each role",
    400: "no role is named; the body is malformed or wrongly typed",
  },
  handle: ({ body, user }) =>
    Effect.gen(function* () {
      const { global = false, copy = false } = body
      const roles = yield* itemsOf("move roles", "roles", body.roles)
      const moved = yield* hostFailures(moveRoles(roles, user, global, copy ? "copy" : "move"))
      return {
        success: moved.flatMap(({ role, refused }) => (refused === undefined ? [role] : [])),
        errors: moved.flatMap(({ role, refused }) => (refused === undefined ? [] : [{ role, error: refused }])),
      }
    }),
})
