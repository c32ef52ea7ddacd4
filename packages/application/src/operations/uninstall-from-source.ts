import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { targetFor } from "../source/installation.ts"
import { uninstallFrom } from "../source/uninstall-run.ts"
import { actingAs, visibleSource } from "../source/visible-source.ts"
import { UninstallRequest } from "../wire/install.ts"
import { sourceStatuses, sourceWaitCutShort } from "../wire/statuses.ts"
import { syncResult, SyncResultResponse } from "../wire/sync-result.ts"

export const uninstallFromSource = operation({
  id: "uninstallFromSource",
  route: "POST /sources/{sourceID}/uninstall",
  group: "Sources",
  does: "uninstall items of a source",
  summary: "Uninstall items that were installed from a source; what is still needed stays unless force is set",
  access: "user",
  accessNote: "the source's owner and administrators; administrators when global",
  origin: "ours",
  target: "none",
  path: { sourceID: Schema.String },
  query: actingAs,
  body: { type: "json", required: true, schema: UninstallRequest },
  output: { type: "json", schema: SyncResultResponse },
  statuses: {
    200: "the outcome for each item, and who still needs it",
    ...sourceStatuses,
    400: "an item was not installed from the source; the body is malformed or wrongly typed",
    403: "global needs an administrator",
    409: sourceWaitCutShort,
  },
  handle: ({ path, query, body, user }) =>
    Effect.gen(function* () {
      const source = yield* visibleSource(path.sourceID, { user, query })
      const target = yield* targetFor(user, body.global)
      return syncResult(source.id, yield* uninstallFrom(source, target, body.selection, body.force ?? false), [])
    }),
})
