import { secretsOf, type Step } from "@rangewright/domain"

/** Secrets shorter than this are words of their own elsewhere; covering them would make output unreadable. */
const secretAtLeast = 4

/** The text without the secrets that the step was given, whatever a tool printed. */
export const covered = (text: string, { action }: Step): string =>
  action.kind !== "guest" && action.kind !== "work"
    ? text
    : secretsOf(action.input)
        .filter((secret) => secret.length >= secretAtLeast)
        .reduce((rest, secret) => rest.replaceAll(secret, "***"), text)
