import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { changeSource, checkChange } from "../source/change-source.ts"
import { updateArchive } from "../source/update-archive.ts"
import { actingAs, visibleSource } from "../source/visible-source.ts"
import { mostArchiveBytes, sourceFields, SourceResponse, sourceResponse } from "../wire/source.ts"
import { sourceStatuses, sourceWaitCutShort, diskLimitReached } from "../wire/statuses.ts"
import { syncResult, SyncResultResponse } from "../wire/sync-result.ts"

export const updateSource = operation({
  id: "updateSource",
  route: "PATCH /sources/{sourceID}",
  group: "Sources",
  does: "change a source",
  summary:
    "Change where a source comes from, its credentials or its schedule; with an archive, install again what was installed from it",
  access: "user",
  accessNote: "its owner and administrators; administrators with global",
  target: "none",
  path: { sourceID: Schema.String },
  query: actingAs,
  body: {
    type: "json-or-multipart",
    required: true,
    schema: Schema.Struct(sourceFields),
    file: "archive",
    maxBytes: mostArchiveBytes,
    stored: true,
  },
  output: { type: "json", schema: Schema.Union([SourceResponse, SyncResultResponse]) },
  statuses: {
    200: "the source as it is now; with an archive, the outcome for each item",
    ...sourceStatuses,
    400: "a member is not allowed or does not fit the source; the archive cannot be read; the body is malformed",
    403: `global needs an administrator; ${diskLimitReached}`,
    409: `the origin of the source was changed in the meantime; ${sourceWaitCutShort}`,
    413: "the archive is too large",
  },
  handle: ({ path, query, body, file, user }) =>
    Effect.gen(function* () {
      const source = yield* visibleSource(path.sourceID, { user, query })
      yield* checkChange(source, body, user, file !== undefined)
      const changed = yield* changeSource(source, body, user)
      if (file === undefined) return sourceResponse(changed)
      const { global = false, force = false } = body
      const { outcomes, undeclared } = yield* updateArchive(changed, file, user, { global, force })
      return syncResult(source.id, outcomes, undeclared)
    }),
})
