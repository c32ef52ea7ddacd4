import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { collectionRequirement, installCollection as install, removeCollection } from "../ansible/install-collection.ts"
import { hostFailures, scopeOf } from "../ansible/installed.ts"
import { mayChangeArtifacts } from "../ansible/may-change.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { diskLimitReached } from "../wire/statuses.ts"

export const installCollection = operation({
  id: "InstallCollection",
  route: "POST /ansible/collection",
  group: "Ansible",
  does: "install or remove a collection",
  summary: "Install a collection by its name or its URL, with the collections that it needs; or remove one",
  access: "user",
  accessNote: "administrators when global or restricted",
  target: "none",
  recordedFirst: true,
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      collection: Schema.String,
      version: Schema.optionalKey(Schema.String),
      action: Schema.optionalKey(Schema.Literals(["", "install", "remove"])),
      force: Schema.optionalKey(Schema.Boolean),
      global: Schema.optionalKey(Schema.Boolean),
    }),
  },
  output: { type: "json", schema: TextResult, status: 201 },
  statuses: {
    201: "the collection is installed, or is no longer there",
    400: "the action is unknown; the collection's name is not valid; the body is malformed or wrongly typed",
    403: `the hypervisor's own account may not do this; only administrators may make changes; global needs an administrator; ${diskLimitReached}`,
    409: "the collection is installed already, in a version that fits",
    500: "the collection, or what it needs, is not available; the store or the library does not work",
  },
  handle: ({ body, user }) =>
    Effect.gen(function* () {
      const { collection, version = "", action, force = false, global = false } = body
      yield* mayChangeArtifacts(user, { global })
      const scope = scopeOf(user, global)
      if (action === "remove") {
        yield* hostFailures(removeCollection(collection, scope))
        return { result: `Successfully removed: ${collection}` }
      }
      yield* install(collectionRequirement(collection, version), scope, force)
      return { result: `Successfully installed: ${version === "" ? collection : `${collection}:${version}`}` }
    }),
})
