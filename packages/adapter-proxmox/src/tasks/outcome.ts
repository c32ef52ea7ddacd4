import { type Fields, text } from "../wire/read.ts"

/** How a task ended. `vanished`: its end is not known (unknown to the node, interrupted, log lost); only observation shows what it did. */
export type TaskOutcome =
  | { readonly type: "ok" }
  | { readonly type: "vanished"; readonly detail: string }
  | { readonly type: "failed"; readonly detail: string }

/** `OK` and `WARNINGS: n` are success, texts that mean the end was lost are `vanished`, anything else is the error. */
export const outcomeOf = (exit: string): TaskOutcome => {
  if (exit === "OK" || /^WARNINGS: \d+$/u.test(exit)) return { type: "ok" }
  if (/^unexpected status$|received interrupt|interrupted by signal/u.test(exit)) return { type: "vanished", detail: exit }
  return { type: "failed", detail: exit.slice(0, 600) }
}

/** Outcome in a row of a task list; undefined while the task runs. */
export const listedOutcome = (row: Fields): TaskOutcome | undefined => {
  const status = text(row, "status")
  if (text(row, "endtime") === undefined || status === undefined || status === "RUNNING") return undefined
  return outcomeOf(status)
}

/** Outcome in the answer of one task's status; undefined while it runs. */
export const statusOutcome = (data: Fields): TaskOutcome | undefined =>
  text(data, "status") === "stopped" ? outcomeOf(text(data, "exitstatus") ?? "unexpected status") : undefined

/** Whether the answer says that the task runs. */
export const isRunning = (data: Fields): boolean => text(data, "status") === "running"
