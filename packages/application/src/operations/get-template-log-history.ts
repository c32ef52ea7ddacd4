import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { shownInHistory } from "../range/shown-in-history.ts"
import { Settings } from "../settings.ts"
import { templateOf } from "../template/build-log.ts"
import { buildsOf } from "../template/running-builds.ts"
import { LogHistoryEntry, logHistoryEntry } from "../wire/log-history.ts"

export const getTemplateLogHistory = operation({
  id: "getTemplateLogHistory",
  route: "GET /templates/logs/history",
  group: "Template",
  does: "list the logs of templates' builds",
  summary: "The user's builds, newest first",
  access: "user",
  accessNote: "your own builds",
  target: "none",
  output: { type: "json", schema: Schema.Array(LogHistoryEntry) },
  statuses: { 200: "one entry for each build that is kept" },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const settings = yield* Settings
      const runs = yield* buildsOf(user, settings.maxLogHistory)
      return (yield* Effect.forEach(runs, shownInHistory)).map((run) => ({ ...logHistoryEntry(run), template: templateOf(run) }))
    }),
})
