import type { RunHead, Step } from "@rangewright/domain"
import { monotonicMillis } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { JournalWriter } from "../journal/journal-writer.ts"
import type { StepContext } from "../kind/work.ts"
import { redacted } from "./redacted.ts"

/** Minimum interval between two progress events of a step (ms). */
const progressEveryMillis = 1000

/** The context of a step, over the journal of its run. */
export const stepContext = (head: RunHead, step: Step, writer: JournalWriter): StepContext => {
  const { key } = step
  let written = Number.NEGATIVE_INFINITY
  return {
    head,
    step,
    keys: () => new Set(writer.state().steps.keys()),
    factsOf: (other) => writer.state().steps.get(other)?.facts,
    print: (text) => (text === "" ? Effect.void : writer.write({ type: "Output", key, text: redacted(text, step) })),
    progress: (done, total) =>
      Effect.flatMap(monotonicMillis, (now) => {
        if (now - written < progressEveryMillis || !Number.isFinite(done)) return Effect.void
        written = now
        return writer.write({ type: "StepProgress", key, done, total: Number.isFinite(total) ? total : undefined })
      }),
    cancelled: writer.cancelled,
  }
}
