import {
  CannotPlan,
  Conflict,
  type Fault,
  isClosed,
  keptTexts,
  notifiedAtMost,
  type Range,
  rangeSubject,
  readDestination,
  type User,
} from "@rangewright/domain"
import { Machines, Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { RunPlanner } from "../run/planner.ts"
import { tellTemplates } from "../template/tell-templates.ts"
import { issueLine } from "../wire/config-issue.ts"
import { configIssues } from "./check-config.ts"
import { quotaWarnings } from "./quota-warnings.ts"
import { readRangeConfig, refusedConfig } from "./read-config.ts"

/**
 * Texts about what the next deploy would leave unchanged although the configuration differs, or why none is possible, for a range with
 * machines. None when that cannot be determined now: the plan of the deploy shows it.
 */
const keptByNextDeploy = (range: Range, user: User) =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const planner = yield* RunPlanner
    const there = (yield* machines.ofRange(range.id)).some(({ template }) => !template)
    if (!there || (yield* machines.freshness).awaySince !== undefined) return []
    return yield* planner.drift(range, user.id).pipe(
      tellTemplates(user),
      Effect.map(({ kept }) => keptTexts(kept)),
      Effect.catch((fault) =>
        Effect.succeed(fault instanceof CannotPlan ? [`Warning: ${fault.message}. ${fault.hint ?? ""}`.trim()] : []),
      ),
    )
  })

/** Says who is notified of deploys: the author of a blueprint may have named themselves. */
const notified = (text: string) =>
  Effect.gen(function* () {
    const parsed = text.includes("notify") ? yield* readRangeConfig(text) : undefined
    const urls = parsed !== undefined && Result.isSuccess(parsed) ? (parsed.success.config.notify?.urls ?? []) : []
    const names = urls.slice(0, notifiedAtMost).flatMap((url) => {
      const destination = readDestination(url)
      return destination.state === "usable" ? [destination.name] : []
    })
    return names.length === 0 ? [] : [`When a deploy ends, it notifies ${names.join(", ")}`]
  })

/**
 * Stores a text as the range's configuration. Refused in testing mode unless forced, then for every error in it. A run keeps the
 * configuration that it was planned with, so a new one may be stored at any time. Returns lines for the caller: when it takes effect, which
 * machines stay although they differ from it, who is notified, and warnings.
 */
export const storeConfig = <R>(change: {
  readonly range: Range
  readonly user: User
  readonly force: boolean
  /** Evaluated once testing mode does not forbid the change. */
  readonly text: Effect.Effect<string, Fault, R>
  /** Whether the stored text is the one to be replaced; undefined: any is. */
  readonly replaces?: ((stored: string) => boolean) | undefined
}) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const journal = yield* RunJournal
    const { range, user, force, replaces } = change
    if (isClosed(range.testing) && !force)
      return yield* Effect.fail<Fault>(
        new Conflict({
          what: `Cannot change the configuration of range ${range.id}: testing mode is on`,
          hint: "Stop testing first, or repeat with force=true (--force on the command line).",
        }),
      )
    const text = yield* change.text
    const issues = yield* configIssues(text, range, user)
    if (issues.some((issue) => issue.severity === "error")) return yield* Effect.fail<Fault>(refusedConfig(issues))
    yield* ranges.setConfig(range.id, text, { by: user.id, ...(replaces && { replaces }) })
    const run = yield* journal.active(rangeSubject(range.id))
    return [
      ...(run === undefined || run.cancelRequested
        ? []
        : [`Run ${run.id} (${run.kind}) continues with the plan it has; deploy again to apply this`]),
      ...(yield* keptByNextDeploy(range, user)),
      ...(yield* notified(text)),
      ...(yield* quotaWarnings(range)).map((warning) => `Warning: ${warning}`),
      ...issues.map((issue) => `Warning: ${issueLine(issue)}`),
    ]
  })
