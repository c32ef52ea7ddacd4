import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { fetchedBefore, fetchToInstall } from "../source/fetch-to-install.ts"
import { dryRunInstall, installFrom } from "../source/install.ts"
import { targetFor } from "../source/installation.ts"
import { actingAs, visibleSource } from "../source/visible-source.ts"
import { InstallRequest, InstallResponse, installChoice } from "../wire/install.ts"
import { BooleanText } from "../wire/parameters.ts"
import { sourceStatuses, sourceWaitCutShort, diskLimitReached } from "../wire/statuses.ts"
import { syncResult } from "../wire/sync-result.ts"

export const installSource = operation({
  id: "installSource",
  route: "POST /sources/{sourceID}/install",
  group: "Sources",
  does: "install from a source",
  summary: "Fetch a source and install what is selected of it, and all that it needs; with dryRun only plan it",
  access: "user",
  accessNote: "the source's owner and administrators; administrators when global",
  target: "none",
  path: { sourceID: Schema.String },
  query: { ...actingAs, dryRun: Schema.optionalKey(BooleanText) },
  body: { type: "json", required: false, schema: InstallRequest },
  output: { type: "json", schema: InstallResponse },
  statuses: {
    200: "the outcome for each item; with dryRun: what would",
    ...sourceStatuses,
    400: "the selection names what the source does not ship; the body is malformed or wrongly typed",
    403: `global needs an administrator; ${diskLimitReached}`,
    409: sourceWaitCutShort,
    500: "the source cannot be fetched or read, or the store does not work",
  },
  handle: ({ path, query, body = {}, user }) =>
    Effect.gen(function* () {
      const source = yield* visibleSource(path.sourceID, { user, query })
      const target = yield* targetFor(user, body.global)
      const choice = installChoice(body)
      if (query.dryRun === true || body.dryRun === true) {
        const { plan, undeclared } = yield* dryRunInstall({ ...(yield* fetchedBefore(source)), ...target }, choice)
        return { ...syncResult(source.id, [], undeclared), ...plan }
      }
      const { outcomes, undeclared } = yield* installFrom({ ...(yield* fetchToInstall(source, user.id)), ...target }, choice)
      return syncResult(source.id, outcomes, undeclared)
    }),
})
