import {
  accessSubject,
  type AccessChange,
  AccessChangeJson,
  type AccountId,
  concernsAccount,
  concernsRange,
  type DesiredAccess,
  type Fault,
  heldInLine,
  heldWithNotes,
  placeText,
  type RunId,
  type RunState,
  type RangeId,
  type UserId,
} from "@rangewright/domain"
import { AccessRecords, HypervisorFault, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Result from "effect/Result"
import { endOfRun, HypervisorAway } from "@rangewright/run-engine"
import { RunEngine } from "@rangewright/run-engine"
import { inStartTurn } from "../run/start-turns.ts"
import { accessRun } from "./access-run.ts"
import { AccessControl } from "./access-control.ts"
import type { ComparedAccess } from "./compare.ts"

/** The access that has to be in line before the caller is answered. Other changes are made too, but not waited for. */
export interface AccessScope {
  /** Completes "Cannot …". */
  readonly doing: string
  readonly by: UserId
  readonly concerns: (change: AccessChange, desired: DesiredAccess) => boolean
}

const decodeChange = Schema.decodeUnknownOption(AccessChangeJson)

/** Runs that may end without success for the caller, because access changes meanwhile. */
const runsAtMost = 10

/** Whether the hypervisor is unreachable, so that it may work soon. */
export const isAway = (fault: Fault): boolean =>
  fault instanceof HypervisorAway || (fault instanceof HypervisorFault && fault.facts.reason === "away")

/** The failures that concern the caller; those of others must not be revealed. */
const refused = (doing: string, { steps, message }: RunState, isCallers: (change: AccessChange) => boolean): HypervisorFault => {
  const failures = [...steps.values()].flatMap(({ step: { action }, failure }) => {
    const change = action.kind === "work" ? Option.getOrUndefined(decodeChange(action.input)) : undefined
    return failure !== undefined && change !== undefined && isCallers(change) ? [failure.message] : []
  })
  return new HypervisorFault({
    doing,
    reason: "failed",
    detail: failures.length === 0 ? message : failures.slice(0, 5).join("; "),
  })
}

/** Updates the record of what is held: whatever has no change left is in line, and is held as it is stored now. */
const keepHeld = ({ held, desired, version, changes, plan }: ComparedAccess) =>
  Effect.gen(function* () {
    const records = yield* AccessRecords
    // nothing is known about rights on VNets while no cluster was seen
    if (desired.networks === "unknown") return
    const inLine = heldWithNotes(heldInLine(held, desired, changes), plan.notes)
    if (JSON.stringify(inLine) === JSON.stringify(held)) return
    // somebody else, who observed later, was first
    yield* Effect.catchTag(records.hold(inLine, version), "StaleVersion", () => Effect.void)
  })

/**
 * Brings access on the hypervisor in line with what is stored, and returns when what concerns the caller is in line, as observed on the
 * hypervisor. Fails when that is not possible; the stored access stays desired then, and is retried in the background.
 */
export const bringInLine = ({
  doing,
  by,
  concerns,
}: AccessScope): Effect.Effect<ComparedAccess, Fault, AccessControl | AccessRecords | RunEngine | RunJournal> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    const journal = yield* RunJournal
    const { compare } = yield* AccessControl
    const isLeft = ({ changes, desired }: ComparedAccess): boolean => changes.some((change) => concerns(change, desired))
    /** The caller's own run, which did not do everything. */
    let failed: RunId | undefined
    for (let runs = 0; runs < runsAtMost;) {
      // a run in progress was planned before, and may still grant what is no longer wanted
      const running = yield* journal.active(accessSubject)
      if (running !== undefined) {
        yield* Effect.catchIf(
          endOfRun(doing, running.id),
          (fault) => !isAway(fault),
          () => Effect.void,
        )
        continue
      }
      const compared = yield* inStartTurn(compare)
      if ((yield* journal.active(accessSubject)) !== undefined) continue
      yield* keepHeld(compared)
      if (!isLeft(compared)) return compared
      if (failed !== undefined)
        return yield* refused(doing, yield* engine.state(failed), (change) => concerns(change, compared.desired))
      const run = yield* inStartTurn(engine.start(accessRun.request(accessSubject, {}), by))
      runs += 1
      const end = yield* Effect.result(endOfRun(doing, run.id))
      if (Result.isSuccess(end) && end.success.status === "success") continue
      if (Result.isFailure(end) && isAway(end.failure)) return yield* Effect.fail(end.failure)
      // somebody else's run may have been planned before the caller's change
      if (run.plan !== undefined) failed = run.id
    }
    return yield* new HypervisorFault({
      doing,
      reason: "locked",
      detail: "access kept changing in the meantime",
      hint: "Repeat the call.",
    })
  })

/** Changes of these accounts; passwords only on request. */
export const ofAccounts =
  (accounts: readonly AccountId[], options: { readonly passwords: boolean } = { passwords: false }): AccessScope["concerns"] =>
  (change) =>
    (options.passwords || change.kind !== "set-password") && accounts.some((account) => concernsAccount(change, account))

/** Changes of a range's pool, and of rights on the range. */
export const ofRange =
  (id: RangeId): AccessScope["concerns"] =>
  (change, desired) =>
    concernsRange(desired, change, id)

/** Changes of rights on these places, by `placeText`, and of their pools. */
export const onPlaces =
  (places: ReadonlySet<string>): AccessScope["concerns"] =>
  (change) => {
    if (change.kind === "create-pool" || change.kind === "remove-pool")
      return places.has(placeText({ type: "pool", rangeId: change.rangeId }))
    return (change.kind === "grant" || change.kind === "revoke") && places.has(placeText(change.place))
  }
