import type { InstalledCopy } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { hostFailures, listInstalled } from "../ansible/installed.ts"
import { operation } from "../operation/operation.ts"

const InstalledArtifact = Schema.Struct({
  name: Schema.String,
  version: Schema.optionalKey(Schema.String),
  type: Schema.Literals(["role", "collection"]),
  global: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "InstalledArtifact" })

/** Clients print this; a collection of unknown version has none. */
const unknownVersion = "(unknown version)"

const row = (type: "role" | "collection", { name, scope, version }: InstalledCopy): typeof InstalledArtifact.Type => {
  const shown = version ?? (type === "role" ? unknownVersion : undefined)
  return { name, ...(shown === undefined ? {} : { version: shown }), type, ...(scope === "global" ? { global: true } : {}) }
}

export const getRolesAndCollections = operation({
  id: "getRolesAndCollections",
  route: "GET /ansible",
  group: "Ansible",
  does: "list roles and collections",
  summary: "Roles and collections that a user's machines can use: the user's own, then everybody's",
  access: "user",
  target: "none",
  output: { type: "json", schema: Schema.Array(InstalledArtifact) },
  statuses: { 200: "what is installed for the user and for everybody" },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const { own, global } = yield* hostFailures(listInstalled(user))
      return [own, global].flatMap(({ roles, collections }) => [
        ...roles.map((copy) => row("role", copy)),
        ...collections.map((copy) => row("collection", copy)),
      ])
    }),
})
