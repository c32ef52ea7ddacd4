import {
  Failed,
  type Fault,
  installItemKinds,
  isRecordId,
  isUserId,
  type RecordId,
  type RunState,
  type Source,
  SourceNotFound,
  workPlan,
} from "@rangewright/domain"
import { Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { RunEngine } from "@rangewright/run-engine"
import { runKind } from "@rangewright/run-engine"
import { work } from "@rangewright/run-engine"
import { UninstallSelection } from "../wire/install.ts"
import { type InstallTarget, stillWanted } from "./installation.ts"
import { Removal } from "./installed-items.ts"
import { type ItemOutcome, itemFailed } from "./item-outcome.ts"
import { sourceSubject } from "./source-subject.ts"
import { startAfterOthers } from "./start-after-others.ts"
import { prepareUninstall, takeAway } from "./uninstall.ts"

const Request = Schema.Struct({
  /** Record ID of the source: a source created again under its ID is another one. */
  recordId: Schema.String.pipe(Schema.refine(isRecordId)),
  user: Schema.String.pipe(Schema.refine(isUserId)),
  /** Absent in runs that began before it was recorded. */
  userRecord: Schema.optionalKey(Schema.String.pipe(Schema.refine(isRecordId))),
  global: Schema.Boolean,
  force: Schema.Boolean,
  selection: UninstallSelection,
})

const Step = Schema.Struct({
  recordId: Schema.String.pipe(Schema.refine(isRecordId)),
  kind: Schema.Literals(installItemKinds),
  name: Schema.String,
  /** Absent: it stays. */
  removal: Schema.optionalKey(Removal),
  because: Schema.optionalKey(Schema.String),
})
const readStep = Schema.decodeUnknownOption(Step)

const uninstall = work({
  name: "uninstall",
  input: Step,
  settle: ({ recordId, removal, because }) =>
    removal === undefined
      ? Effect.fail(new Failed({ what: `${because ?? "it is still needed"}; use force to remove it` }))
      : Effect.as(takeAway({ recordId }, removal), { changed: true }),
})

const sourceOf = (recordId: RecordId) => Effect.flatMap(Sources, (sources) => sources.findByRecordId(recordId))

/** Removes what was installed from a source, item by item. */
export const sourceUninstall = runKind({
  name: "source-uninstall",
  doing: "an uninstallation",
  request: Request,
  plan: ({ recordId, user, userRecord, global, force, selection }) =>
    Effect.gen(function* () {
      yield* stillWanted({ user, global, ...(userRecord === undefined ? {} : { userRecord }) }, "uninstallation")
      const source = (yield* sourceOf(recordId)) ?? (yield* new SourceNotFound({ source: recordId }))
      const planned = yield* prepareUninstall(source, { user, global }, selection, force)
      return workPlan(
        planned.map(({ thing: { kind, name, removal }, change, because }) =>
          uninstall.step(
            { key: `${kind}:${name}`, title: `Remove ${kind} ${name}`, estimate: 0.5, tolerated: true },
            {
              recordId,
              kind,
              name,
              ...(change === "remove" ? { removal } : {}),
              ...(because === undefined ? {} : { because }),
            },
          ),
        ),
      )
    }),
  works: [uninstall],
  owner: ({ id }) => Effect.map(sourceOf(id as RecordId), (source) => source?.owner),
})

/** The outcome of each item: a fold over the state of the run. */
const uninstallOutcomes = (state: RunState): readonly ItemOutcome[] =>
  [...state.steps.values()].flatMap(({ step, phase, failure }): readonly ItemOutcome[] => {
    const input = step.action.kind === "work" ? Option.getOrUndefined(readStep(step.action.input)) : undefined
    if (input === undefined) return []
    const { kind, name, because } = input
    if (phase === "settled") return [{ kind, name, ok: true, ...(because === undefined ? {} : { text: because }) }]
    return [itemFailed(kind, name, failure?.message ?? "it was not started")]
  })

/**
 * Removes the selected things that were installed from a source, in a run of the source, and waits for its end. What is still needed stays
 * without `force`. Fails before anything is done if something was not installed from the source.
 */
export const uninstallFrom = (
  { recordId }: Pick<Source, "recordId">,
  { user, userRecord, global }: InstallTarget,
  selection: typeof UninstallSelection.Type,
  force: boolean,
): Effect.Effect<readonly ItemOutcome[], Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    const asked = { recordId, user, global, force, selection, ...(userRecord === undefined ? {} : { userRecord }) }
    const request = sourceUninstall.request(sourceSubject(recordId), asked)
    const run = yield* startAfterOthers(request, user)
    return uninstallOutcomes(yield* engine.wait(run.id))
  })
