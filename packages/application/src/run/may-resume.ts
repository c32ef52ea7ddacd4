import { Forbidden, rangeOf, type User } from "@rangewright/domain"
import type { RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { requireEntitlement } from "../access/entitlement.ts"
import { mayRemove } from "../template/delete-template.ts"

/** Who may resume a run, for the description of operations. */
export const resumeAccess =
  "of the run's range; for other runs the user for whom they were started, and administrators; a KMS host is set up by administrators only"

/** The user for whom a run was started, where its request says so. Users may be created again under an old ID; records are never reused. */
const readStored = Schema.decodeUnknownOption(
  Schema.Struct({ user: Schema.optionalKey(Schema.String), userRecord: Schema.optionalKey(Schema.String) }),
)

const isFor = ({ options, by, startedAt }: RunRecord, user: User): boolean => {
  const stored = Option.getOrUndefined(readStored(options))
  return stored?.userRecord === undefined
    ? (stored?.user ?? by) === user.id && user.createdAt <= startedAt
    : stored.userRecord === user.recordId
}

/**
 * Fails unless the user may resume the run, which they may see. A resumed run of a range acts for whoever resumes it. Any other run acts
 * for the user for whom it was started, with that user's rights: nobody else may start it again but administrators, because what it is
 * about may have changed. What needs a licence needs one again. What the run's user may do is checked when it is planned again.
 */
export const mayResume = Effect.fnUntraced(function* (run: RunRecord, user: User) {
  if (run.kind === "anti-sandbox-enable") yield* requireEntitlement(`resume run ${run.id}`)
  if (user.isAdmin) return
  const doing = `Cannot resume run ${run.id}`
  if (run.kind === "kms-install")
    return yield* new Forbidden({ reason: `${doing}: only administrators may set up a KMS host`, hint: "Ask an administrator." })
  if (rangeOf(run) !== undefined) return
  if (!isFor(run, user))
    return yield* new Forbidden({
      reason: `${doing}: it acts for another user`,
      hint: `Start it yourself, or ask ${run.by} or an administrator to resume it.`,
    })
  yield* mayRemove(run, user)
})

/** Whether the run is over without success, so that there is something to resume, and the user may do that. */
export const isResumableBy = (run: RunRecord, user: User) =>
  run.status === "running" || run.status === "success"
    ? Effect.succeed(false)
    : mayResume(run, user).pipe(
        Effect.as(true),
        Effect.catchIf(
          ({ kind }) => kind === "forbidden",
          () => Effect.succeed(false),
        ),
      )
