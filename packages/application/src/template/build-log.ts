import { isRunId, NotFound } from "@rangewright/domain"
import { RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { buildRequestOf, templateBuildName } from "./build-run.ts"

/** The template that a build makes. */
export const templateOf = (run: Pick<RunRecord, "options">): string => {
  const request = buildRequestOf(run)
  return request._tag === "Some" ? request.value.template : ""
}

/** A build by the ID of its log. `NotFound` if there is none. */
export const findBuild = Effect.fnUntraced(function* (logId: string) {
  const journal = yield* RunJournal
  const run = isRunId(logId) ? yield* journal.find(logId) : undefined
  if (run !== undefined && run.kind === templateBuildName) return run
  return yield* new NotFound({
    what: `Log entry not found: ${logId.slice(0, 64)}`,
    hint: "GET /templates/logs/history lists the entries.",
  })
})
