import { coverOf, shownText, type Step } from "@rangewright/domain"

/** The text without the secrets that the step was given, and without what steers a terminal, whatever a tool printed. */
export const covered = (text: string, { action }: Step): string =>
  shownText(action.kind === "guest" || action.kind === "work" ? coverOf(action.input)(text) : text)
