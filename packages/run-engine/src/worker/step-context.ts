import type { RunHead, Step } from "@rangewright/domain"
import { monotonicMillis } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { RunBook } from "../journal/run-book.ts"
import type { StepContext } from "../kind/work.ts"
import { covered } from "./covered.ts"

/** Minimum interval between two progress events of a step (ms). */
const progressEveryMillis = 1000

/** What a step is given of the run in whose journal it writes. */
export const stepContext = (head: RunHead, step: Step, book: RunBook): StepContext => {
  const { key } = step
  let written = Number.NEGATIVE_INFINITY
  return {
    head,
    step,
    keys: () => new Set(book.state().steps.keys()),
    factsOf: (other) => book.state().steps.get(other)?.facts,
    print: (text) => (text === "" ? Effect.void : book.write({ type: "Output", key, text: covered(text, step) })),
    progress: (done, total) =>
      Effect.flatMap(monotonicMillis, (now) => {
        if (now - written < progressEveryMillis || !Number.isFinite(done)) return Effect.void
        written = now
        return book.write({ type: "StepProgress", key, done, total: Number.isFinite(total) ? total : undefined })
      }),
    cancelled: book.cancelled,
  }
}
