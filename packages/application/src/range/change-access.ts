import type { Fault, Range, RangeId, User, UserId } from "@rangewright/domain"
import { HypervisorAccess, type Machines, Ranges, type RunJournal, type Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { stillThere } from "../access/still-there.ts"
import { onceAtRest } from "../run/installation-gate.ts"
import type { RunEngine } from "../run/run-engine.ts"
import type { Settings } from "../settings.ts"
import { accountOf, rightsNetwork, routerToTell, tellRouters } from "./router-access.ts"

/** A change of who may use which ranges: one path, direct or by one group, from each user to each range. */
export interface AccessChange<R> {
  /** Completes "Cannot …". */
  readonly doing: string
  readonly by: UserId
  readonly kind: "give" | "take"
  readonly users: readonly User[]
  readonly ranges: readonly Range[]
  /** Writes the change; all or nothing. */
  readonly store: Effect.Effect<unknown, Fault, R>
  /** Takes back what `store` wrote. */
  readonly undo: Effect.Effect<unknown, Fault, R>
  /** `must`: routers that are off, or fail, refuse the change. `may`: these learn it by their range's next deploy. */
  readonly routers: "must" | "may"
}

/** A range, and the users for whom a change opens or closes it. */
interface Concerned {
  readonly range: Range
  readonly users: readonly User[]
}

/** The ranges to which some of the users have exactly this many paths, with those users. */
const withPaths = ({ users, ranges }: Pick<AccessChange<never>, "users" | "ranges">, paths: number) =>
  Effect.gen(function* () {
    const store = yield* Ranges
    const found = yield* Effect.forEach(ranges, (range) =>
      Effect.map(store.grants(range.id), (grants): Concerned => {
        const pathsOf = (user: User) => grants.filter((grant) => grant.userId === user.id).length
        return { range, users: users.filter((user) => pathsOf(user) === paths) }
      }),
    )
    return found.filter((concerned) => concerned.users.length > 0)
  })

/** Gives the users rights on the hypervisor, or takes theirs away. */
const setRights = (kind: AccessChange<never>["kind"], { range, users }: Concerned) =>
  Effect.gen(function* () {
    const access = yield* HypervisorAccess
    const network = yield* rightsNetwork(range)
    yield* access[kind === "give" ? "grant" : "revoke"](range.id, users.map(accountOf), network)
  })

/**
 * Makes a change true here, on the hypervisor and on the ranges' routers, or takes it back everywhere. Only users for whom it is the first
 * path to a range, or the last one, get or lose rights; a range for which it opens or closes nothing is not touched. While a run changes the
 * whole installation it waits for that one's end. Returns the ranges whose routers still have to learn it; none with `must`.
 */
export const changeAccess = <R>(
  change: AccessChange<R>,
): Effect.Effect<
  readonly RangeId[],
  Fault,
  R | Ranges | Users | HypervisorAccess | Machines | RunJournal | Settings | RunEngine
> =>
  Effect.gen(function* () {
    const { doing, kind } = change
    /** For whom the change makes a difference, asked before it is written or after it was taken back. */
    const touched = withPaths(change, kind === "give" ? 0 : 1)
    const concerned = yield* onceAtRest(
      doing,
      (waited) => (waited ? Effect.andThen(stillThere(change), touched) : touched),
      (found) => found.length > 0,
    )
    // before anything changes: what could not be told refuses the whole
    if (change.routers === "must") yield* Effect.forEach(concerned, ({ range }) => routerToTell(doing, range), { discard: true })
    yield* change.store
    let told: readonly Range[] = []
    const takeBack = Effect.gen(function* () {
      yield* change.undo
      const opposite = kind === "give" ? "take" : "give"
      yield* Effect.forEach(yield* touched, (one) => Effect.ignore(setRights(opposite, one), { log: "Error" }), { discard: true })
      yield* tellRouters(change, told)
    }).pipe(Effect.ignore({ log: "Error" }))
    return yield* Effect.gen(function* () {
      // who loses rights is looked up after the loss: somebody else may have taken the other path in the meantime
      const changed = kind === "give" ? concerned : yield* withPaths(change, 0)
      yield* Effect.forEach(changed, (one) => setRights(kind, one), { discard: true })
      const ends = yield* tellRouters(
        change,
        changed.map(({ range }) => range),
      )
      told = ends.told
      const [first] = ends.failed
      if (first !== undefined && change.routers === "must") return yield* Effect.fail(first.fault)
      return ends.failed.map(({ range }) => range.id)
    }).pipe(Effect.onError(() => takeBack))
  })
