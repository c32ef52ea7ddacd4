import { Conflict, type Fault, type Json, type RunHead, type Step, type StepFacts } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The facts that a step found out, and what a tool printed. */
export interface Settlement {
  readonly facts: StepFacts
  readonly output: string
}

/** What the actions of a step see of its run. */
export interface StepContext {
  readonly head: RunHead
  readonly step: Step
  /** Keys of all steps of the run. */
  readonly keys: () => ReadonlySet<string>
  /** The facts of another step; undefined until it has settled. */
  readonly factsOf: (key: string) => StepFacts | undefined
  /** Adds tool output to the log: whole lines, many at a time, since each call writes to the journal. */
  readonly print: (text: string) => Effect.Effect<void, Fault>
  /** Reports progress in units of the step. Reports within a second of the last one are dropped. */
  readonly progress: (done: number, total: number | undefined) => Effect.Effect<void, Fault>
  /** Completes when a cancel was requested. Work in flight may continue to its end or fail early. */
  readonly cancelled: Effect.Effect<void>
}

/** Work as the engine sees it: the input comes from the journal. */
export interface Work<out R = never> {
  readonly name: string
  readonly dispatch: (input: Json, context: StepContext) => Effect.Effect<Json, Fault, R>
  readonly settle: (input: Json, token: Json, context: StepContext) => Effect.Effect<StepFacts, Fault, R>
}

/** What a plan declares of a step; the rest follows from its work. */
export interface WorkStep {
  /** Unique in the plan and stable. */
  readonly key: string
  /** For people: `Install role geerlingguy.docker`. */
  readonly title: string
  readonly after?: readonly string[]
  readonly uses?: Step["uses"]
  /** Expected seconds. */
  readonly estimate: number
  /** See `Step.timedAs`. */
  readonly timedAs?: string
  /** See `Step.learned`. */
  readonly learned?: true
  /** See `Step.tolerated`. */
  readonly tolerated?: boolean
  /** See `Step.pointOfNoReturn`. */
  readonly pointOfNoReturn?: boolean
}

/** Work with the type of its input; makes the steps of plans. */
export interface WorkOf<Input, out R> extends Work<R> {
  readonly step: (declared: WorkStep, input: Input) => Step
}

/**
 * Declares one kind of work for the steps of a run kind.
 *
 * `settle` does the work, or waits for what `dispatch` started; its token is what `dispatch` returned, or null without one. Both may be
 * called again after a crash: finding the work done is success. A failure fails the step with its message; an unusable store and an
 * unreachable hypervisor are waited for. The input is journaled, so it must hold no secret.
 */
export const work = <Input, S = never, D = never>(spec: {
  readonly name: string
  readonly input: Schema.Codec<Input, unknown>
  readonly dispatch?: (input: Input, context: StepContext) => Effect.Effect<Json, Fault, D>
  readonly settle: (input: Input, context: StepContext, token: Json) => Effect.Effect<StepFacts, Fault, S>
}): WorkOf<Input, S | D> => {
  const decode = (input: Json, { step }: StepContext): Effect.Effect<Input, Fault> =>
    Schema.decodeUnknownEffect(spec.input)(input).pipe(
      Effect.mapError(() => new Conflict({ what: `Cannot continue "${step.title}": its input cannot be read` })),
    )
  const { dispatch } = spec
  return {
    name: spec.name,
    step: ({ key, title, after = [], uses = [], estimate, timedAs, learned, tolerated, pointOfNoReturn }, input) => ({
      key,
      title,
      tag: undefined,
      machine: undefined,
      action: { kind: "work", work: spec.name, input: Schema.encodeSync(spec.input)(input) as Json },
      after,
      uses,
      estimate,
      ...(timedAs === undefined ? {} : { timedAs }),
      ...(learned === undefined ? {} : { learned }),
      ...(tolerated === undefined ? {} : { tolerated }),
      ...(pointOfNoReturn === undefined ? {} : { pointOfNoReturn }),
    }),
    dispatch: (input, context) =>
      dispatch === undefined
        ? Effect.succeed(null)
        : Effect.flatMap(decode(input, context), (decoded) => dispatch(decoded, context)),
    settle: (input, token, context) => Effect.flatMap(decode(input, context), (decoded) => spec.settle(decoded, context, token)),
  }
}
