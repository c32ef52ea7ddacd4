import { coverOf, type Step } from "@rangewright/domain"

/** The text without the secrets that the step was given, whatever a tool printed. */
export const covered = (text: string, { action }: Step): string =>
  action.kind === "guest" || action.kind === "work" ? coverOf(action.input)(text) : text
