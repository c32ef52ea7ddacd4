import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { asFailure } from "../source/content-refused.ts"
import { registerSource } from "../source/register-source.ts"
import { sourceCatalog } from "../source/source-catalog.ts"
import { mostArchiveBytes, sourceFields } from "../wire/source.ts"
import { SourceCatalog } from "../wire/source-catalog.ts"
import { diskLimitReached } from "../wire/statuses.ts"
import { SourceWarning, sourceWarnings } from "../wire/sync-result.ts"

export const createSource = operation({
  id: "createSource",
  route: "POST /sources",
  group: "Sources",
  does: "register a source",
  summary: "Register a repository, an archive or a folder as a source and fetch what it ships; nothing is installed",
  access: "user",
  accessNote: "administrators for folders of the host and with global",
  target: "none",
  body: {
    type: "json-or-multipart",
    required: true,
    schema: Schema.Struct({ id: Schema.optionalKey(Schema.String), type: Schema.String, ...sourceFields }),
    file: "archive",
    maxBytes: mostArchiveBytes,
    stored: true,
  },
  output: {
    type: "json",
    schema: Schema.Struct({
      sourceID: Schema.String,
      catalog: SourceCatalog,
      warnings: Schema.optionalKey(Schema.Array(SourceWarning)),
    }).annotate({ identifier: "RegisterSourceResponse" }),
  },
  statuses: {
    200: "the source was registered, or was there and is fetched again",
    400: "the type, the ID, the origin or a member is not allowed; its content cannot be fetched or read; the body is malformed",
    403: `global and folders need an administrator; ${diskLimitReached}`,
    409: "the ID is in use, or is that of another source of the user's",
    413: "the archive is too large",
  },
  handle: ({ body, file, user }) =>
    Effect.gen(function* () {
      const { source, content } = yield* registerSource(body, user, file)
      const catalog = yield* Effect.mapError(sourceCatalog(source, user, { content }), asFailure)
      return { sourceID: source.id, catalog, ...sourceWarnings(content.warnings) }
    }),
})
