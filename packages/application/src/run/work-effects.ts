import { type Action, Conflict, type Fault, type Json, type RunHead, type Step, type StepFacts } from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { covered } from "./covered.ts"
import type { RunBook } from "./run-book.ts"
import type { RunKind } from "./run-kind.ts"
import type { Work, WorkContext } from "./work.ts"

/** Least milliseconds between two tellings of a step's progress. */
const progressEveryMillis = 1000

type WorkAction = Extract<Action, { readonly kind: "work" }>

/** The effects of a kind's own work, in the two parts that the engine runs. */
export interface WorkEffects {
  readonly dispatch: (step: Step, action: WorkAction) => Effect.Effect<Json, Fault>
  readonly settle: (step: Step, action: WorkAction, token: Json) => Effect.Effect<StepFacts, Fault>
  /** What a stage in a machine is told of its run: whose it is, what was asked for, and where lines go while its tool works. */
  readonly ofRun: (step: Step) => OfRun
}

export type OfRun = Omit<GuestTask, "machine" | "name" | "os" | "stage" | "input">

const contextOf = (head: RunHead, step: Step, book: RunBook): WorkContext => {
  const { key } = step
  let told = Number.NEGATIVE_INFINITY
  return {
    head,
    step,
    factsOf: (other) => book.state().steps.get(other)?.facts,
    print: (text) => (text === "" ? Effect.void : book.write({ type: "Output", key, text: covered(text, step) })),
    progress: (done, total) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now - told < progressEveryMillis) return Effect.void
        told = now
        return book.write({ type: "StepProgress", key, done, total })
      }),
    cancelled: book.cancelled,
  }
}

export const makeWorkEffects = (kind: RunKind, head: RunHead, book: RunBook): WorkEffects => {
  const find = (step: Step, { work }: WorkAction): Effect.Effect<Work, Fault> => {
    const found = kind.workNamed(work)
    return found === undefined
      ? Effect.fail(new Conflict({ what: `Cannot do "${step.title}": this version knows no work ${work} of ${kind.name}` }))
      : Effect.succeed(found)
  }
  return {
    // lines that cannot be kept are no reason to stop the tool: whoever writes next learns of it
    ofRun: (step) => ({
      ...kind.guestOptions(head),
      by: head.by,
      run: { id: head.id, steps: new Set(book.state().steps.keys()) },
      cancelled: book.cancelled,
      output: (text) => Effect.ignore(contextOf(head, step, book).print(text)),
    }),
    dispatch: (step, action) =>
      Effect.flatMap(find(step, action), (work) => work.dispatch(action.input, contextOf(head, step, book))),
    settle: (step, action, token) =>
      Effect.flatMap(find(step, action), (work) => work.settle(action.input, token, contextOf(head, step, book))),
  }
}
