import {
  Conflict,
  type MigrationAction,
  MigrationActionJson,
  movedSettings,
  type MigrationDirection,
  type MigrationPlan,
  type MigrationStep,
  type RunState,
  stageFingerprint,
  type Step,
} from "@rangewright/domain"
import { Machines, MigrationRecords, NetworkMigration, type NetworkMigrationAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { restKey, restStep, restWork } from "../run/ranges-at-rest.ts"
import { work } from "@rangewright/run-engine"
import { planNetworks } from "./plan-networks.ts"

const isWorldly = (action: MigrationAction): action is NetworkMigrationAction =>
  action.kind !== "save-record" && action.kind !== "drop-record"

/** The journaled token of an action whose object was gone: there is nothing to settle. */
const Gone = Schema.Struct({ gone: Schema.Literal(true) })
const isGone = Schema.is(Gone)

/** Starts an action; returns the token for settling it. */
const dispatchAction = (action: MigrationAction) =>
  Effect.gen(function* () {
    const migration = yield* NetworkMigration
    if (!isWorldly(action)) return null
    const { token, gone } = yield* migration.dispatch(action)
    return gone === true ? { gone } : token
  })

const keepOrDrop = (action: Extract<MigrationAction, { readonly kind: "save-record" | "drop-record" }>) =>
  MigrationRecords.use((records) => (action.kind === "save-record" ? records.save(action.record) : records.remove))

/** Performs one action completely; may be repeated. */
export const performAction = (action: MigrationAction) =>
  Effect.gen(function* () {
    if (!isWorldly(action)) return yield* keepOrDrop(action)
    const migration = yield* NetworkMigration
    const { token } = yield* migration.dispatch(action)
    return yield* migration.settle(action, token)
  })

/** The journaled form of a step: enough to undo it. */
export const MigrationStepJson = Schema.Struct({
  phase: Schema.Literals(["prepare", "move", "clean"]),
  action: MigrationActionJson,
})

/** Moves a machine's owed settings from a rollback too: applying them later would undo the move. May be repeated. */
const moveOwed = Effect.fnUntraced(function* ({ vmid, guard, nics }: Extract<MigrationAction, { readonly kind: "move-nics" }>) {
  if (guard.type !== "mark") return
  const machines = yield* Machines
  const { range } = guard.mark
  const owed = (yield* machines.owed(range)).get(vmid)
  if (owed !== undefined) yield* machines.owe(range, vmid, { ...owed, settings: movedSettings(owed.settings, nics) })
})

export const networkStep = work({
  name: "network-step",
  input: MigrationStepJson,
  dispatch: ({ action }) => dispatchAction(action),
  settle: ({ action }, _context, token) =>
    Effect.gen(function* () {
      const migration = yield* NetworkMigration
      if (isGone(token)) return { changed: false }
      if (!isWorldly(action)) yield* keepOrDrop(action)
      else yield* migration.settle(action, token)
      if (action.kind === "move-nics") yield* moveOwed(action)
      return { changed: action.kind !== "verify-networks" && action.kind !== "verify-machines" }
    }),
})

const decodeStep = Schema.decodeUnknownOption(MigrationStepJson)

/** The machine that a step of a run moves, and its range (or pool), for displaying a run; undefined for other steps. */
export const movedMachine = ({ action }: Step): { readonly name: string; readonly range: string } | undefined => {
  if (action.kind !== "work" || action.work !== networkStep.name) return undefined
  const read = Option.getOrUndefined(decodeStep(action.input))?.action
  if (read?.kind !== "move-nics") return undefined
  return { name: read.name, range: read.guard.type === "mark" ? read.guard.mark.range : read.guard.pool }
}

/** A short text that differs when any action of the plan differs. */
const fingerprintOf = ({ steps }: Pick<MigrationPlan, "steps">): string =>
  stageFingerprint(steps.map(({ key, action }) => [key, Schema.encodeSync(Schema.fromJsonString(MigrationActionJson))(action)]))

/** Checks the plan again: a run of a range that ended after planning may have changed what the plan is based on. */
const checkStep = work({
  name: "network-check",
  input: Schema.Struct({
    direction: Schema.Literals(["to-sdn", "to-bridges"]),
    createZone: Schema.Boolean,
    fingerprint: Schema.String,
  }),
  settle: ({ direction, createZone, fingerprint }) =>
    Effect.gen(function* () {
      const records = yield* MigrationRecords
      const now = yield* planNetworks(direction, createZone, { snapshots: false })
      const recorded = (yield* records.find) !== undefined
      if (fingerprintOf(now) === fingerprint) return { data: { recorded } }
      return yield* new Conflict({
        what: "Cannot move the networks as planned: the installation has changed since the plan was made",
        hint: "Nothing was changed. Start again.",
      })
    }),
})

export const migrationWorks = [networkStep, restWork, checkStep] as const

const checkKey = "check"

const stepOf = ({ key, title, after, uses, estimate, phase, action, machine }: MigrationStep): Step => ({
  ...networkStep.step(
    { key, title, after: after.length === 0 ? [checkKey] : after, uses, estimate, pointOfNoReturn: phase !== "prepare" },
    { phase, action },
  ),
  machine,
})

/** Whether the installation is as it was when the run was planned, so that the preparations have been undone. */
export const isAsPlanned = (plan: MigrationPlan, { steps }: RunState): boolean => {
  const action = steps.get(checkKey)?.step.action
  const input = action?.kind === "work" ? action.input : null
  return typeof input === "object" && input !== null && "fingerprint" in input && input.fingerprint === fingerprintOf(plan)
}

/** Whether an earlier migration had already saved the old state when this run began to change things: that record outlives the run. */
export const wasRecorded = ({ steps }: RunState): boolean => {
  const data = steps.get(checkKey)?.facts?.data
  return typeof data === "object" && data !== null && "recorded" in data && data.recorded === true
}

/** The steps of a run: waits until no range changes, checks that the plan still applies, then the plan's own steps. */
export const runSteps = (
  plan: MigrationPlan,
  choice: { readonly direction: MigrationDirection; readonly createZone: boolean },
) => [
  restStep,
  checkStep.step(
    { key: checkKey, title: "Check whether the plan still applies", estimate: 2, after: [restKey] },
    { ...choice, fingerprint: fingerprintOf(plan) },
  ),
  ...plan.steps.map(stepOf),
]
