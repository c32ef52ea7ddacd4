import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mayUploadArtifacts } from "../ansible/may-change.ts"
import { readableBlueprint } from "../blueprint/find-blueprint.ts"
import { installDependencies } from "../blueprint/install-dependencies.ts"
import { operation } from "../operation/operation.ts"
import { blueprintStatuses } from "../wire/statuses.ts"
import { AnsibleInstallResult, ansibleResults } from "../wire/sync-result.ts"

export const installBlueprintDeps = operation({
  id: "installBlueprintDeps",
  route: "POST /blueprints/{blueprintID}/install",
  group: "Blueprint",
  does: "install what a blueprint requires",
  summary: "Install the roles and collections that a blueprint requires",
  access: "user",
  accessNote: "its owner, those it is shared with, and administrators; only administrators for everybody",
  target: "none",
  path: { blueprintID: Schema.String },
  body: {
    type: "json",
    required: false,
    schema: Schema.Struct({ global: Schema.optionalKey(Schema.Boolean), forceRoles: Schema.optionalKey(Schema.Boolean) }),
  },
  output: {
    type: "json",
    schema: Schema.Struct({ blueprintID: Schema.String, ansibleResults: Schema.Array(AnsibleInstallResult) }).annotate({
      identifier: "BlueprintDependencies",
    }),
  },
  statuses: {
    200: "the outcome for each, even if all failed; the blueprint shows the last result",
    ...blueprintStatuses,
    400: "the body is malformed",
    403: "the caller may not install roles, or not for everybody; the blueprint is not shared with the caller",
  },
  handle: ({ path, body = {}, user }) =>
    Effect.gen(function* () {
      const global = body.global ?? false
      yield* mayUploadArtifacts(user, { global })
      const blueprint = yield* readableBlueprint(path.blueprintID, user)
      const outcomes = yield* installDependencies(blueprint, {
        user: user.id,
        userRecord: user.recordId,
        global,
        force: body.forceRoles ?? false,
      })
      return { blueprintID: path.blueprintID, ansibleResults: ansibleResults(outcomes) }
    }),
})
