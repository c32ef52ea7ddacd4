import { afterWrong, noWrongAttempts, originOf, type Patience, type UserId, type WrongAttempts } from "@rangewright/domain"
import { recent } from "./recent.ts"
import type { Attempt } from "./sign-ins.ts"

const second = 1000
const minute = 60 * second

/** For one account from one place: five mistakes are free, then the waits grow up to a quarter of an hour. */
const ofPair: Patience = { free: 5, first: second, longest: 15 * minute, forgets: 15 * minute }
/** For all accounts from one place, where many people may be. */
const ofOrigin: Patience = { free: 30, first: second, longest: 15 * minute, forgets: minute }
/** For one account from everywhere: slow enough against guessing, and short enough for the owner to get in between. */
const ofAccount: Patience = { free: 20, first: second, longest: 10 * second, forgets: minute }

/** Number of entries of each kind. */
const most = 8192

interface Pair {
  readonly wrong: WrongAttempts
  /** The account has signed in from here: mistakes elsewhere no longer count against it. */
  readonly known: boolean
  readonly userId: UserId | undefined
}
const newPair: Pair = { wrong: noWrongAttempts, known: false, userId: undefined }

/** Memory of attempts. `now`: `monotonicMillis`. */
export interface Throttle {
  /** Milliseconds until the attempt may be checked; 0: now. */
  readonly wait: (attempt: Attempt, now: number) => number
  readonly right: (attempt: Attempt) => void
  /** Returns the milliseconds that the next attempt will have to wait. */
  readonly wrong: (attempt: Attempt, now: number, userId: UserId | undefined) => number
  /** The user whom earlier attempts under this name were about. */
  readonly userOf: (attempt: Attempt) => UserId | undefined
}

export const makeThrottle = (): Throttle => {
  const pairs = recent<string, Pair>(most)
  const origins = recent<string, WrongAttempts>(most)
  const accounts = recent<string, WrongAttempts>(most)
  const pairOf = (account: string, address: string) => `${account.toLowerCase()}\n${originOf(address)}`
  const openAt = ({ account, address }: Attempt): number => {
    const ofAddress = origins.get(originOf(address))
    if (account === undefined) return ofAddress?.openAt ?? 0
    const { wrong, known } = pairs.get(pairOf(account, address)) ?? newPair
    if (known) return wrong.openAt
    const all = [wrong, ofAddress, accounts.get(account.toLowerCase())]
    return Math.max(...all.map((attempts) => attempts?.openAt ?? 0))
  }
  const wait = (attempt: Attempt, now: number): number => Math.max(0, openAt(attempt) - now)
  return {
    wait,
    right: ({ account, address }) => {
      if (account !== undefined) pairs.set(pairOf(account, address), { ...newPair, known: true })
    },
    wrong: (attempt, now, userId) => {
      const { account, address } = attempt
      const origin = originOf(address)
      origins.set(origin, afterWrong(origins.get(origin) ?? noWrongAttempts, now, ofOrigin))
      if (account !== undefined) {
        const pair = pairs.get(pairOf(account, address)) ?? newPair
        const name = account.toLowerCase()
        pairs.set(pairOf(account, address), { ...pair, userId, wrong: afterWrong(pair.wrong, now, ofPair) })
        accounts.set(name, afterWrong(accounts.get(name) ?? noWrongAttempts, now, ofAccount))
      }
      return wait(attempt, now)
    },
    userOf: ({ account, address }) => (account === undefined ? undefined : pairs.get(pairOf(account, address))?.userId),
  }
}
