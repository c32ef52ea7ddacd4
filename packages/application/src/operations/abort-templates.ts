import { Conflict, Failed } from "@rangewright/domain"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { isBuildOf, runningBuilds } from "../template/running-builds.ts"
import { TextResult } from "../wire/common.ts"

/** Seconds that the answer waits for the tool to clean up. */
const patience = 150

export const abortTemplates = operation({
  id: "abortTemplates",
  route: "POST /templates/abort",
  group: "Template",
  does: "abort builds of templates",
  summary: "Abort your own builds, running and queued; those of others continue",
  access: "user",
  target: "none",
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the builds were aborted and cleaned up, or are still stopping: the answer says which",
    500: "the user has no build that waits or runs",
  },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const own = (yield* runningBuilds).filter(({ run }) => isBuildOf(run, user))
      const none = new Failed({
        what: `Cannot abort: user ${user.id} builds no template`,
        hint: "GET /templates/status lists the builds.",
      })
      if (own.length === 0) return yield* none
      const over: string[] = []
      const aborted = yield* Effect.filter(own, ({ run, template }) =>
        engine.cancel(run.id, user.id).pipe(
          // it is being adopted
          Effect.catchTag("Conflict", () => Effect.succeed(false)),
          Effect.tap((done) => Effect.sync(() => (done ? undefined : over.push(template)))),
        ),
      )
      if (aborted.length === 0)
        return yield* new Conflict({
          what: `Cannot abort: ${over.join(", ")} ${over.length === 1 ? "is" : "are"} finished or about to be`,
        })
      // picks up builds without a living worker, so that they end too
      yield* engine.recover
      const ends = Effect.forEach(aborted, ({ run }) => Effect.option(engine.wait(run.id)), { concurrency: "unbounded" })
      const ended = yield* Effect.timeoutOption(ends, patience * 1000)
      const names = aborted.map(({ template }) => template).join(", ")
      const late = over.length === 0 ? "" : ` Finished before: ${over.join(", ")}.`
      return {
        result:
          ended._tag === "Some"
            ? `Aborted the build of ${names}.${late}`
            : `The build of ${names} is being aborted, and is still cleaning up.${late}`,
      }
    }),
})
