import { Conflict, emptyContent, InvalidInput } from "@rangewright/domain"
import { Blueprints, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ownBlueprint } from "../blueprint/find-blueprint.ts"
import { keepingParts } from "../blueprint/keep-blueprint.ts"
import { wellFormedConfig } from "../blueprint/make-blueprint.ts"
import { requiredByConfig } from "../blueprint/required-by-config.ts"
import { dependencyContextOf } from "../blueprint/dependency-context.ts"
import { matching, versionOf } from "../operation/versions.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { ownBlueprintStatuses } from "../wire/statuses.ts"

export const updateBlueprintConfig = operation({
  id: "updateBlueprintConfig",
  route: "PUT /blueprints/{blueprintID}/config",
  group: "Blueprint",
  does: "set the configuration of a blueprint",
  summary: "Check a configuration and make it the blueprint's, byte for byte; its other files stay, and ranges keep theirs",
  access: "user",
  accessNote: "its owner and administrators",
  target: "none",
  path: { blueprintID: Schema.String },
  body: { type: "json", required: true, schema: Schema.Struct({ config: Schema.String }) },
  conditional: true,
  output: { type: "marked-json", schema: TextResult },
  statuses: {
    200: "the configuration was stored",
    ...ownBlueprintStatuses,
    403: `${ownBlueprintStatuses[403]}; it is more than its owner may keep on the service's host`,
    409: "the blueprint comes from a source; its configuration is not the one that If-Match names",
    500: "roles that are only on this server cannot be included; unexpected server failure",
    400: "the configuration is blank or breaks the schema; the body is malformed",
  },
  handle: ({ path, body, user, meta }) =>
    Effect.gen(function* () {
      const sources = yield* Sources
      const blueprint = yield* ownBlueprint(path.blueprintID, user, "change")
      const doing = `change blueprint ${blueprint.id}`
      const source = blueprint.origin && (yield* sources.findByRecordId(blueprint.origin.source))
      if (source !== undefined)
        return yield* new Conflict({
          what: `Cannot ${doing}: its configuration comes from source ${source.id}, and the next installation would undo the change`,
          hint: `Make a copy of your own: POST /blueprints/{id}/copy.`,
        })
      if (body.config.trim() === "")
        return yield* new InvalidInput({
          what: `Cannot ${doing}: the configuration is blank`,
          issues: [{ path: "config", message: "a range configuration is needed" }],
        })
      const config = yield* wellFormedConfig(body.config)
      const blueprints = yield* Blueprints
      // a blueprint whose files are missing may still be fixed
      const { content } = yield* dependencyContextOf(blueprint).pipe(Effect.orElseSucceed(() => ({ content: emptyContent })))
      const place = { content, requirements: yield* blueprints.requirements(blueprint.id) }
      const requirements = yield* requiredByConfig(doing, config, blueprint.owner ?? user.id, place)
      const replaces = yield* matching(meta.ifMatch)
      yield* blueprints
        .setConfig(blueprint.id, config, requirements, { by: user.id, ...(replaces && { replaces }) })
        .pipe(keepingParts(doing, blueprint, { config, requirements }))
      return { json: { result: `Configuration of blueprint ${blueprint.id} stored` }, version: yield* versionOf(config) }
    }),
})
