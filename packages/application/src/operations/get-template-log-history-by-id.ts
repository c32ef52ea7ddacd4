import { Forbidden } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { runLog } from "../range/run-log.ts"
import { shownInHistory } from "../range/shown-in-history.ts"
import { findBuild } from "../template/build-log.ts"
import { isBuildOf } from "../template/running-builds.ts"
import { LogHistoryDetailResponse, logHistoryEntry } from "../wire/log-history.ts"

export const getTemplateLogHistoryById = operation({
  id: "getTemplateLogHistoryByID",
  route: "GET /templates/logs/history/{logID}",
  group: "Template",
  does: "read an old log of a template's build",
  summary: "One build with its log",
  access: "user",
  accessNote: "your own builds; administrators: all",
  target: "none",
  path: { logID: Schema.String },
  output: { type: "json", schema: LogHistoryDetailResponse },
  statuses: {
    200: "the entry with its text",
    403: "the build is another user's",
    404: "there is no such entry",
  },
  handle: ({ user, path }) =>
    Effect.gen(function* () {
      const run = yield* findBuild(path.logID)
      if (!user.isAdmin && !isBuildOf(run, user))
        return yield* new Forbidden({ reason: `Log entry ${run.id} is of another user's build` })
      return { ...logHistoryEntry(yield* shownInHistory(run)), result: yield* runLog(run) }
    }),
})
