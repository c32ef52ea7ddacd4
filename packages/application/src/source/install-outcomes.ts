import { installItemKinds, type RunState, shippedItemKinds, type StepFacts, type StepState } from "@rangewright/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { InstallStep } from "./install-steps.ts"
import { type ItemOutcome, itemFailed } from "./item-outcome.ts"

const ItemOutcomes = Schema.Array(
  Schema.Struct({
    kind: Schema.Literals(installItemKinds),
    name: Schema.String,
    version: Schema.optionalKey(Schema.String),
    ok: Schema.Boolean,
    text: Schema.optionalKey(Schema.String),
  }),
)

const readOutcomes = Schema.decodeUnknownOption(ItemOutcomes)
const readStep = Schema.decodeUnknownOption(InstallStep)

/** The outcome of each item so far: a fold over the state of the installation's run, in the order of its plan. */
export const installOutcomes = (state: RunState): readonly ItemOutcome[] => [...state.steps.values()].flatMap(outcomesOf)

/** The outcomes of a step's items. */
export const outcomesIn = (facts: StepFacts | undefined): readonly ItemOutcome[] =>
  Option.getOrElse(readOutcomes(facts?.data), () => [])

const outcomesOf = ({ step, phase, facts, failure, skippedBecause }: StepState): readonly ItemOutcome[] => {
  if (phase === "settled") return outcomesIn(facts)
  const declared = step.action.kind === "work" ? Option.getOrUndefined(readStep(step.action.input)) : undefined
  if (declared === undefined) return []
  const because = failure?.message ?? `it was not started: ${skippedBecause ?? "the run has not ended"}`
  return itemsOf(declared).map(([kind, name]) => itemFailed(kind, name, because))
}

const itemsOf = (step: InstallStep): readonly (readonly [ItemOutcome["kind"], string])[] => {
  switch (step.do) {
    case "prune":
    case "check":
      return []
    case "blueprint":
      return [["blueprint", step.publicId]]
    case "artifact":
      return [[shippedItemKinds[step.artifact.kind], step.artifact.name]]
    case "roles":
      return step.planned.map(({ requirement: { name, src } }) => ["role", name ?? src ?? ""])
    case "collections":
      return step.planned.map(({ requirement: { name } }) => ["collection", name ?? ""])
    case "subscription":
      return step.names.map((name) => ["subscription_role", name])
  }
}

/** The installed blueprints of a run: their IDs in the source, and for clients. */
export const plannedBlueprints = (state: RunState): readonly { readonly id: string; readonly publicId: string }[] =>
  [...state.steps.values()].flatMap(({ step: { action } }) => {
    const step = action.kind === "work" ? Option.getOrUndefined(readStep(action.input)) : undefined
    return step?.do === "blueprint" ? [{ id: step.id, publicId: step.publicId }] : []
  })
