import { Failed, howTo, InvalidInput, readLog } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { runLog } from "../range/run-log.ts"
import { buildsOf, isBuildOf, runningBuilds } from "../template/running-builds.ts"
import { LogPage } from "../wire/log-history.ts"
import { WholeNumberText } from "../wire/parameters.ts"

export const getPackerLogs = operation({
  id: "getPackerLogs",
  route: "GET /templates/logs",
  group: "Template",
  does: "read the log of a template's build",
  summary: "Log of the user's newest build, or of a running one, whole or from a given position",
  access: "user",
  accessNote: "your own builds",
  target: "none",
  query: {
    tail: Schema.optionalKey(WholeNumberText),
    cursor: Schema.optionalKey(WholeNumberText),
    logID: Schema.optionalKey(Schema.String),
  },
  output: { type: "json", schema: LogPage },
  statuses: {
    200: "the text, and the cursor for what follows",
    400: "tail or cursor is not a whole number from 0; logID is not a running build of the user",
    500: "the user has built nothing, so there is no log",
  },
  handle: ({ user, query: { logID, ...page } }) =>
    Effect.gen(function* () {
      const running = (yield* runningBuilds).map(({ run }) => run).filter((run) => isBuildOf(run, user))
      if (logID !== undefined) {
        const run = running.find(({ id }) => id === logID)
        if (run !== undefined) return readLog(yield* runLog(run), page)
        return yield* new InvalidInput({
          what: `${logID.slice(0, 64)} is not a running build of user ${user.id}`,
          hint: "GET /templates/logs/history lists those that have ended.",
        })
      }
      const [run] = running.length > 0 ? running : yield* buildsOf(user, 1)
      if (run === undefined)
        return yield* new Failed({
          what: `There is no log: user ${user.id} has built no template`,
          hint: `Build one: ${howTo("POST /templates")}.`,
        })
      return readLog(yield* runLog(run), page)
    }),
})
