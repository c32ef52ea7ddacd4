import { originOf, type UserId } from "@rangewright/domain"
import type { AuditEntry } from "@rangewright/ports"
import type { Attempt } from "./sign-ins.ts"

/** Number of separate counts in one window; all others are counted together, so that nobody can fill the audit trail. */
const most = 10

interface Count {
  readonly operation: string
  readonly userId: UserId | undefined
  readonly outcome: "WrongPassword" | "WrongCode"
  readonly origin: string
  wrong: number
  throttled: number
  readonly since: number
}

/** Counts failed attempts by user and origin. */
export interface Tally {
  readonly add: (attempt: Attempt, userId: UserId | undefined, kind: "wrong" | "throttled", now: number) => void
  /** One audit entry for each count since the last time. They do not contain what senders typed: it may be a password. */
  readonly take: (now: number) => readonly AuditEntry[]
}

const entryOf = ({ operation, userId, outcome, origin, wrong, throttled, since }: Count, now: number): AuditEntry => ({
  at: new Date(now),
  requestId: "",
  callerId: undefined,
  actingAs: userId,
  operation,
  rangeId: undefined,
  detail: `wrong=${wrong} throttled=${throttled} since=${new Date(since).toISOString()}`,
  outcome,
  remote: origin,
})

export const makeTally = (): Tally => {
  let counts = new Map<string, Count>()
  return {
    add: ({ operation, account, address }, userId, kind, now) => {
      const own = `${operation}\n${userId ?? ""}\n${originOf(address)}`
      const isKept = counts.has(own) || counts.size < most
      const key = isKept ? own : operation
      const begun = {
        operation,
        userId: isKept ? userId : undefined,
        outcome: account === undefined ? "WrongCode" : "WrongPassword",
        origin: isKept ? originOf(address) : "others",
      } as const
      const count = counts.get(key) ?? { ...begun, wrong: 0, throttled: 0, since: now }
      count[kind]++
      counts.set(key, count)
    },
    take: (now) => {
      const taken = [...counts.values()]
      counts = new Map()
      return taken.map((count) => entryOf(count, now))
    },
  }
}
