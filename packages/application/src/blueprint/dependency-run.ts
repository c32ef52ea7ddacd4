import {
  type Blueprint,
  BlueprintNotFound,
  emptyContent,
  Failed,
  isRecordId,
  type RecordId,
  type RunHead,
  type RunState,
  type UserId,
  workPlan,
} from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { runKind } from "@rangewright/run-engine"
import { work } from "@rangewright/run-engine"
import { installOutcomes, outcomesIn } from "../source/install-outcomes.ts"
import { failFor } from "../source/install-run.ts"
import { InstallStep, installStepsOf } from "../source/install-steps.ts"
import { type ArtifactInstallation, stillWanted } from "../source/installation.ts"
import type { ItemOutcome } from "../source/item-outcome.ts"
import { performArtifactStep } from "../source/perform-install.ts"
import { SourceContents } from "../source/source-contents.ts"
import { mayInstallRolesFor } from "../source/target-rights.ts"
import { concludeDependencies, noteInstallation } from "./conclude-dependencies.ts"
import { type DependencyChoice, planDependencies, stillToInstall } from "./plan-dependencies.ts"

/** The stored request of an installation. */
const Request = Schema.Struct({
  recordId: Schema.String.pipe(Schema.refine(isRecordId)),
  user: Schema.String,
  userRecord: Schema.optionalKey(Schema.String.pipe(Schema.refine(isRecordId))),
  global: Schema.Boolean,
  force: Schema.Boolean,
})
const readRequest = Schema.decodeUnknownEffect(Request)
const unreadable = () => new Failed({ what: "Cannot continue the installation: its request cannot be read" })

const asked = ({ options }: RunHead) =>
  Effect.map(Effect.mapError(readRequest(options), unreadable), ({ recordId, user, ...choice }) => ({
    recordId,
    // written by `installDependencies`
    choice: { ...choice, user: user as UserId } satisfies DependencyChoice,
  }))

const blueprintOf = (recordId: RecordId) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const found = yield* blueprints.findByRecordId(recordId)
    return found ?? (yield* new BlueprintNotFound({ blueprint: recordId }))
  })

/** The content for a blueprint that ships nothing: no step reads it. */
const nothing = { content: emptyContent, snapshot: { id: "" as never, root: undefined, files: [] } }

/** The source and the target of the installation. A record that is not a source's claims nothing. */
const installationFor = (blueprint: Blueprint, choice: DependencyChoice, step: InstallStep) =>
  Effect.gen(function* () {
    const contents = yield* SourceContents
    yield* stillWanted(choice)
    const { origin, bundle, recordId } = blueprint
    const content = bundle === undefined || step.do !== "artifact" ? nothing : yield* contents.ofId(bundle.snapshot)
    return { ...choice, source: { recordId: origin?.source ?? recordId }, content } satisfies ArtifactInstallation
  })

/** One step. Failed items of a step for several items fail the `check` step that follows it. */
const install = work({
  name: "install-dependency",
  input: InstallStep,
  settle: (step, { head, factsOf, print }) =>
    Effect.gen(function* () {
      if (step.do === "check") return yield* failFor(outcomesIn(factsOf(step.of)))
      // a blueprint has no rows to make or remove
      if (step.do === "prune" || step.do === "blueprint") return {}
      const { recordId, choice } = yield* asked(head)
      const installation = yield* installationFor(yield* blueprintOf(recordId), choice, step)
      // tool output is for people; a journal that cannot be written ends the run by itself
      const outcomes = yield* performArtifactStep(installation, step, (said) => Effect.ignore(print(said)))
      if (step.do === "artifact") yield* failFor(outcomes)
      return { data: outcomes.map((outcome) => ({ ...outcome })) }
    }),
})

const asRequired: Partial<Record<ItemOutcome["kind"], ItemOutcome["kind"]>> = {
  local_role: "role",
  local_collection: "collection",
}

/**
 * The outcome of each requirement, in the order of the plan. Clients know three kinds; local roles and collections of a source are mapped
 * to those.
 */
export const dependencyOutcomes = (state: RunState): readonly ItemOutcome[] =>
  installOutcomes(state).map((outcome) => ({ ...outcome, kind: asRequired[outcome.kind] ?? outcome.kind }))

/** Installs what a blueprint requires, item by item. */
export const blueprintInstall = runKind({
  name: "blueprint-install",
  doing: "an installation",
  request: Request,
  plan: ({ recordId, user, ...options }) =>
    Effect.gen(function* () {
      const choice = { ...options, user: user as UserId }
      yield* stillWanted(choice)
      yield* mayInstallRolesFor(choice)
      const plan = yield* planDependencies(yield* blueprintOf(recordId), choice)
      const prepared = { plan: stillToInstall(plan), blueprints: [], pruned: [] }
      return workPlan(installStepsOf(prepared, choice.force).map(({ declared, step }) => install.step(declared, step)))
    }),
  works: [install],
  owner: ({ id }) =>
    Effect.map(
      Effect.flatMap(Blueprints, (blueprints) => blueprints.findByRecordId(id as RecordId)),
      (blueprint) => blueprint?.owner,
    ),
  finish: (end, state, head) =>
    Effect.gen(function* () {
      const { recordId } = yield* asked(head)
      const blueprint = yield* blueprintOf(recordId)
      // without a plan nothing was installed, and the run says why
      yield* state.plan === undefined
        ? noteInstallation(blueprint, [end.message])
        : concludeDependencies(blueprint, dependencyOutcomes(state))
    }).pipe(Effect.catchTag("BlueprintNotFound", () => Effect.void)),
})
