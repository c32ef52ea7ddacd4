import { accountIdOf, type Fault, type Range, type User, type UserId } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { stillThere } from "../access/still-there.ts"
import { whenInstallationIdle } from "../run/installation-gate.ts"
import { bringInLine, ofAccounts } from "../rights/in-line.ts"
import { endRevocations, RouterPending, staysPending } from "../rights/revocation-pending.ts"
import { readyToUpdate, updateRouters } from "./router-access.ts"

/** A change of who may use which ranges: one grant, direct or through one group, for each user and range. */
export interface AccessChange<R> {
  /** Completes "Cannot …". */
  readonly doing: string
  readonly by: UserId
  readonly users: readonly User[]
  readonly ranges: readonly Range[]
  /** Writes the change; all or nothing. Fails if there is nothing to write any more, so that `undo` never undoes what others gave. */
  readonly store: Effect.Effect<unknown, Fault, R>
  /** Undoes what `store` gave, but nothing that others have changed since. Undefined: this is a revocation, which is never undone. */
  readonly undo: Effect.Effect<unknown, Fault, R> | undefined
  /** `must`: routers that are off, or whose range a run changes, refuse the change. `may`: these are updated as soon as possible. */
  readonly routers: "must" | "may"
}

/** A range, and the users who gain or lose it by the change. */
interface AffectedRange {
  readonly range: Range
  readonly users: readonly User[]
}

/** The ranges to which some of the users have exactly this many paths, with those users. */
const withPaths = ({ users, ranges }: Pick<AccessChange<never>, "users" | "ranges">, paths: number) =>
  Effect.gen(function* () {
    const store = yield* Ranges
    const found = yield* Effect.forEach(ranges, (range) =>
      Effect.map(store.grants(range.id), (grants): AffectedRange => {
        const pathsOf = (user: User) => grants.filter((grant) => grant.userId === user.id).length
        return { range, users: users.filter((user) => pathsOf(user) === paths) }
      }),
    )
    return found.filter((affected) => affected.users.length > 0)
  })

/** Applies a stored revocation, which stays in force whatever the hypervisor and the routers do. */
const taken = <R, RL>(change: AccessChange<R>, inLine: Effect.Effect<unknown, Fault, RL>) =>
  Effect.gen(function* () {
    // looked up after the revocation: somebody else may have removed the other path in the meantime
    const ranges = (yield* withPaths(change, 0)).map(({ range }) => range)
    if (ranges.length === 0) {
      yield* endRevocations(change, change.users)
      return []
    }
    yield* staysPending(change.doing)(inLine)
    const { failed } = yield* updateRouters(change, ranges)
    const [first] = failed
    const untold = failed.map(({ range }) => range.id)
    if (first !== undefined && change.routers === "must")
      return yield* new RouterPending({ doing: change.doing, ranges: untold, because: first.fault.message })
    return untold
  })

/**
 * Stores a change, and applies it on the hypervisor and on the ranges' routers. Only users who get their first path to a range, or lose
 * their last, gain or lose rights; if there are none, no call is made. Waits while a run changes the whole installation. Rights that could
 * not be granted are revoked here again. Rights that could not be revoked on the hypervisor or a router stay revoked here, reported by
 * `RevocationPending` or `RouterPending`. Returns the ranges whose routers are still to be updated; none with `must`.
 */
export const changeAccess = <R>(change: AccessChange<R>) =>
  Effect.gen(function* () {
    const { doing, by } = change
    /** The users for whom the change makes a difference, found before it is stored. */
    const findAffected = withPaths(change, change.undo === undefined ? 1 : 0)
    const affected = yield* whenInstallationIdle(
      doing,
      (waited) => (waited ? Effect.andThen(stillThere(change), findAffected) : findAffected),
      (found) => found.length > 0,
    )
    // before anything changes: a router that could not be updated refuses the whole change
    if (change.routers === "must") yield* Effect.forEach(affected, ({ range }) => readyToUpdate(doing, range), { discard: true })
    yield* change.store
    const inLine = bringInLine({ doing, by, concerns: ofAccounts(change.users.map(accountIdOf)) })
    if (change.undo === undefined) return yield* taken(change, inLine)
    if (affected.length === 0) return []
    let asked: readonly Range[] = []
    const takeBack = Effect.gen(function* () {
      yield* change.undo ?? Effect.void
      yield* Effect.ignore(inLine)
      yield* updateRouters(change, asked)
    }).pipe(Effect.ignore({ log: "Error" }))
    return yield* Effect.gen(function* () {
      yield* inLine
      // a router whose update failed may have been changed all the same
      asked = affected.map(({ range }) => range)
      const ends = yield* updateRouters(change, asked)
      const [first] = ends.failed
      if (first !== undefined && change.routers === "must") return yield* Effect.fail(first.fault)
      return ends.failed.map(({ range }) => range.id)
    }).pipe(Effect.onError(() => takeBack))
  })
