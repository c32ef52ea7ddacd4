import { secondsText } from "../plan/explain.ts"
import type { Conclusion } from "../run/conclude.ts"

/** The end of a deploy, as people are notified of it. */
export interface DeployEnd extends Conclusion {
  readonly rangeId: string
  /** Name of the host that the service runs on. */
  readonly host: string
  readonly startedAt: Date
  readonly endedAt: Date
}

const outcomes: Readonly<Record<Conclusion["status"], string>> = {
  success: "succeeded",
  partial: "succeeded in part",
  failure: "failed",
  aborted: "was aborted",
}

/** Most characters of a message: the services refuse longer ones, the strictest above 2,000. */
const mostCharacters = 1500

const cut = (text: string): string =>
  text.length > mostCharacters ? `${text.slice(0, mostCharacters - 1).toWellFormed()}…` : text

const millisOf = ({ startedAt, endedAt }: DeployEnd): number => Math.max(0, endedAt.getTime() - startedAt.getTime())

/** `Deploy of range UMA failed` */
export const subjectOfEnd = ({ rangeId, status }: DeployEnd): string => `Deploy of range ${rangeId} ${outcomes[status]}`

/** What happened, without the subject. */
export const messageOfEnd = (end: DeployEnd): string => {
  const time = `It took ${secondsText(millisOf(end) / 1000)}.`
  return end.message === "" ? time : cut(`${time} ${end.message}`)
}

/** What http and https URLs get, as JSON. `duration` is in nanoseconds. */
export const webhookOfEnd = (end: DeployEnd) => ({
  host: end.host,
  range_id: end.rangeId,
  test: false,
  duration: millisOf(end) * 1_000_000,
  date: end.endedAt.toISOString(),
  subject: subjectOfEnd(end),
  success: end.status === "success",
  message: messageOfEnd(end),
})
