import * as Effect from "effect/Effect"
import { importBlueprint as importFrom } from "../blueprint/import-blueprint.ts"
import { installForNew } from "../blueprint/install-dependencies.ts"
import { operation } from "../operation/operation.ts"
import { BlueprintCreated, installedForNew } from "../wire/blueprint.ts"
import { diskLimitReached } from "../wire/statuses.ts"

/** Most bytes of an archive. */
const mostArchiveBytes = 50 * 1024 * 1024

export const importBlueprint = operation({
  id: "importBlueprint",
  route: "POST /blueprints/import",
  group: "Blueprint",
  does: "import a blueprint",
  summary: "Make a blueprint from an archive that was exported, here or elsewhere",
  access: "user",
  target: "none",
  body: { type: "multipart", fields: {}, file: "archive", maxBytes: mostArchiveBytes, stored: true },
  output: { type: "json", schema: BlueprintCreated, status: 201 },
  statuses: {
    201: "the blueprint was created, and what it requires was installed as far as it was available",
    400: "the archive is missing, unsafe, damaged or not gzip; its manifest is not valid",
    403: diskLimitReached,
    409: "the ID is in use",
    413: "the archive is too large",
  },
  handle: ({ file, user }) =>
    Effect.gen(function* () {
      const blueprint = yield* importFrom(file, user)
      const { id, recordId } = blueprint
      const outcomes = yield* installForNew(blueprint, user)
      return { result: `Blueprint ${id} imported`, blueprintID: id, id: recordId, ...installedForNew(outcomes) }
    }),
})
