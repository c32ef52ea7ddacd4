import { coverOf, shownText, type Step } from "@rangewright/domain"

/** The text without the secrets of the step and without terminal control characters. */
export const redacted = (text: string, { action }: Step): string =>
  shownText(action.kind === "guest" || action.kind === "work" ? coverOf(action.input)(text) : text)
