import * as Option from "effect/Option"
import type { Account } from "./account.ts"
import type { ProcessEnd } from "@rangewright/host-tools"

/** The run was cancelled while the tool ran. */
export const cancelled = { type: "cancelled" } as const

/** Its files and those kept by roles exceeded their limit. */
export const overgrown = { type: "overgrown" } as const

/** Why a stage did not finish. `away`: the machine or the tool was unavailable, and a retry is possible, except after a refused login. */
export interface Failure {
  readonly reason: "away" | "failed" | "timeout"
  readonly detail: string
  /** Nothing was done: the machine answered and refused the login. */
  readonly isLoginRefused?: true
}

/** Exit code of the tool when a machine is unreachable, but also when it cannot parse a playbook. */
const unreachableOrUnread = 4

const loginRefused =
  "the login was refused, and is not tried again because that may lock the account; check the user and password in use"

const unresolved = /couldn't resolve module\/action '(?<collection>[a-z0-9_]+\.[a-z0-9_]+)\./u

/** Adds the collection's name, at which Ansible only hints. */
const withCollection = (said: string): string => {
  const collection = unresolved.exec(said)?.groups?.["collection"]
  if (collection === undefined) return said
  return `Ansible on the service's host has no module of that name in the collection ${collection}; install the collection there, or a newer one: ${said}`
}

const detailOf = (code: number, failed: string | undefined, errors: string, at: string): string =>
  failed ?? (errors.trim() === "" ? `Ansible ended with exit code ${code}${at}` : errors.trim())

/** How a run failed; undefined when it succeeded. `ended` is undefined after a time-out, `errors` is its stderr. */
export const failureOf = (
  limits: { readonly seconds: number; readonly outputBytes: number; readonly diskBytes: number },
  ended: Option.Option<ProcessEnd | typeof cancelled | typeof overgrown>,
  account: Pick<Account, "failure" | "isLoginRefused" | "lastTask">,
  errors: string,
): Failure | undefined => {
  const last = account.lastTask()
  const at = last === undefined ? "" : `; its last task was "${last}"`
  if (Option.isNone(ended))
    return { reason: "timeout", detail: `it did not end within ${Math.ceil(limits.seconds / 60)} min${at}` }
  const end = ended.value
  switch (end.type) {
    case "cancelled":
      return { reason: "failed", detail: `the run was aborted${at}` }
    case "not-started":
      return { reason: "failed", detail: `Ansible cannot be started: ${end.because}` }
    case "flooded":
      return { reason: "failed", detail: `it printed more than ${Math.round(limits.outputBytes / 2 ** 20)} MiB${at}` }
    case "overgrown":
      return {
        reason: "failed",
        detail: `its files and those that roles keep take more than ${Math.round(limits.diskBytes / 2 ** 20)} MiB on the service's host${at}`,
      }
    case "killed":
      return { reason: "away", detail: `Ansible was killed by ${end.signal}${at}` }
    case "exited": {
      if (end.code === 0) return undefined
      const failed = account.failure()
      if (account.isLoginRefused()) return { reason: "failed", detail: `${loginRefused}: ${failed ?? ""}`, isLoginRefused: true }
      const reason = end.code === unreachableOrUnread && failed !== undefined ? "away" : "failed"
      return { reason, detail: withCollection(detailOf(end.code, failed, errors, at)) }
    }
  }
}
