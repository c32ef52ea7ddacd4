import { type Cover, coverOf, shownText, type Step } from "@rangewright/domain"

/** The redaction of each step. Tools print many lines, and an input may name thousands of things: it is searched for secrets once. */
const covers = new WeakMap<Step, Cover>()

const coverOfStep = (step: Step): Cover => {
  const { action } = step
  const cover = covers.get(step) ?? (action.kind === "guest" || action.kind === "work" ? coverOf(action.input) : (text) => text)
  covers.set(step, cover)
  return cover
}

/** The text without the secrets of the step and without terminal control characters. */
export const redacted = (text: string, step: Step): string => shownText(coverOfStep(step)(text))
