import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { fetchToInstall } from "../source/fetch-to-install.ts"
import { installFrom } from "../source/install.ts"
import { targetFor } from "../source/installation.ts"
import { installedSelection, onlyInstalled } from "../source/installed-selection.ts"
import { actingAs, visibleSource } from "../source/visible-source.ts"
import { UpgradeRequest } from "../wire/install.ts"
import { sourceStatuses, sourceWaitCutShort, diskLimitReached } from "../wire/statuses.ts"
import { syncResult, SyncResultResponse } from "../wire/sync-result.ts"

export const upgradeFromSource = operation({
  id: "upgradeFromSource",
  route: "POST /sources/{sourceID}/upgrade",
  group: "Sources",
  does: "upgrade items of a source",
  summary: "Fetch a source and install again, in its place, what was installed from it",
  access: "user",
  accessNote: "the source's owner and administrators; administrators when global",
  origin: "ours",
  target: "none",
  path: { sourceID: Schema.String },
  query: actingAs,
  body: { type: "json", required: false, schema: UpgradeRequest },
  output: { type: "json", schema: SyncResultResponse },
  statuses: {
    200: "the outcome for each item",
    ...sourceStatuses,
    400: "the selection names what was not installed or is no longer shipped; the body is malformed or wrongly typed",
    403: `global needs an administrator; ${diskLimitReached}`,
    409: sourceWaitCutShort,
    500: "the source cannot be fetched or read, or the store does not work",
  },
  handle: ({ path, query, body = {}, user }) =>
    Effect.gen(function* () {
      const source = yield* visibleSource(path.sourceID, { user, query })
      const target = yield* targetFor(user, body.global)
      const fetched = yield* fetchToInstall(source, user.id)
      const installed = yield* installedSelection(source, fetched.content.content, target)
      const selection = yield* onlyInstalled(installed, body.selection)
      const choice = { selection, force: true, noDeps: body.noDeps ?? false }
      const { outcomes, undeclared } = yield* installFrom({ ...fetched, ...target }, choice)
      return syncResult(source.id, outcomes, undeclared)
    }),
})
