import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { asFailure } from "../source/content-refused.ts"
import { runFetch } from "../source/fetch-run.ts"
import { actingAs, visibleSource } from "../source/visible-source.ts"
import { sourceStatuses, sourceWaitCutShort, diskLimitReached } from "../wire/statuses.ts"
import { sourceWarnings, syncResult, SyncResultResponse } from "../wire/sync-result.ts"

export const syncSource = operation({
  id: "syncSource",
  route: "POST /sources/{sourceID}/sync",
  group: "Sources",
  does: "sync a source",
  summary: "Fetch what a source ships now; nothing that is installed changes",
  access: "user",
  accessNote: "its owner and administrators",
  target: "none",
  path: { sourceID: Schema.String },
  query: actingAs,
  output: { type: "json", schema: SyncResultResponse },
  statuses: {
    200: "the content was fetched; nothing was installed, so no item has a result",
    ...sourceStatuses,
    403: diskLimitReached,
    409: `the origin of the source was changed in the meantime; ${sourceWaitCutShort}`,
    500: "the content cannot be fetched or read: the source keeps what it had",
  },
  handle: ({ path, query, user }) =>
    Effect.gen(function* () {
      const source = yield* visibleSource(path.sourceID, { user, query })
      const { content } = yield* Effect.mapError(runFetch(source, { manifest: true, outcome: true }, user.id), asFailure)
      return { ...syncResult(source.id, [], content.survey.undeclared), ...sourceWarnings(content.warnings) }
    }),
})
