import { Conflict, type Fault, type Range, rangeSubject, type User } from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { issueLine } from "../wire/config-issue.ts"
import { configIssues } from "./check-config.ts"
import { refusedConfig } from "./read-config.ts"

/**
 * Makes a text the range's configuration: refused in testing mode unless forced, then for every error it has. A run keeps the configuration
 * it was planned with, so a new one may be stored at any time. Returns lines for the caller: when it takes effect, and warnings.
 */
export const storeConfig = <R>(change: {
  readonly range: Range
  readonly user: User
  readonly force: boolean
  /** Asked for once testing mode does not forbid the change. */
  readonly text: Effect.Effect<string, Fault, R>
}) =>
  Effect.gen(function* () {
    const { range, user, force } = change
    if (range.testing.enabled && !force)
      return yield* Effect.fail<Fault>(
        new Conflict({
          what: `Cannot change the configuration of range ${range.id}: testing mode is on`,
          hint: "Stop testing first, or repeat with force=true (--force on the command line).",
        }),
      )
    const text = yield* change.text
    const issues = yield* configIssues(text, range, user)
    if (issues.some((issue) => issue.severity === "error")) return yield* Effect.fail<Fault>(refusedConfig(issues))
    yield* (yield* Ranges).setConfig(range.id, text)
    const run = yield* (yield* RunJournal).active(rangeSubject(range.id))
    return [
      ...(run === undefined
        ? []
        : [`Run ${run.id} (${run.kind}) goes on with what it was planned from; deploy again to apply this`]),
      ...issues.map((issue) => `Warning: ${issueLine(issue)}`),
    ]
  })
