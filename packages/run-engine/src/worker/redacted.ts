import { coverOf, shownText, type Step } from "@rangewright/domain"

/** How the secrets of a step are covered. Tools print many lines, and an input may name thousands of things: it is searched once. */
const covers = new WeakMap<Step, (text: string) => string>()

const coverOfStep = (step: Step): ((text: string) => string) => {
  const { action } = step
  const cover = covers.get(step) ?? (action.kind === "guest" || action.kind === "work" ? coverOf(action.input) : (text) => text)
  covers.set(step, cover)
  return cover
}

/** The text without the secrets of the step and without terminal control characters. */
export const redacted = (text: string, step: Step): string => shownText(coverOfStep(step)(text))
