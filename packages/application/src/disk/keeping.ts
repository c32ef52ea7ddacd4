import { diskUse, exceedsDisk, type KeptThing, UserDiskExceeded, type UserId } from "@rangewright/domain"
import { type Blueprints, type StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"
import { keyedLock } from "../source/keyed-lock.ts"
import { diskLimit, keptBy, type KeptServices, sizesOf, type UncountedFault } from "./kept.ts"

/** The services that tell what a user keeps and may keep. */
export type DiskServices = KeptServices | Settings | Users

/** The limit is exceeded, or the use cannot be counted; nothing is added in either case. */
export type DiskFault = UserDiskExceeded | UncountedFault

/** Two concurrent requests must not both take the last of a user's space. */
const turns = keyedLock()

/** Something to store for a user. */
export interface ToBeKept {
  readonly owner: UserId
  /** Completes "Cannot …". */
  readonly doing: string
  readonly name: string
  /**
   * What the thing under this name becomes; called while nothing else of the user's changes. A thing that takes no more than before is
   * never refused.
   */
  readonly becomes: (there: KeptThing | undefined) => Effect.Effect<KeptThing, StorageFault, Blueprints>
}

/**
 * Runs `keep`, which stores something of a user's on this host, unless that exceeds the user's limit. Other calls for the user wait
 * meanwhile, so `keep` must be short, and must not be nested. Administrators have no limit.
 */
export const keeping =
  ({ owner, doing, name, becomes }: ToBeKept) =>
  <A, E, R>(keep: Effect.Effect<A, E, R>): Effect.Effect<A, E | DiskFault, R | DiskServices> =>
    Effect.gen(function* () {
      const users = yield* Users
      const user = yield* users.find(owner)
      const limit = user === undefined ? 0 : diskLimit(yield* Settings, user)
      if (limit === 0) return yield* keep
      const checked = Effect.gen(function* () {
        const things = yield* keptBy(owner)
        const later = new Map<string, KeptThing>(things).set(name, yield* becomes(things.get(name)))
        const sizeOf = yield* sizesOf([...things.values(), ...later.values()])
        const [before, after] = [diskUse(things.values(), sizeOf), diskUse(later.values(), sizeOf)]
        const change = { user: owner, limit, before, after }
        if (exceedsDisk(change)) return yield* new UserDiskExceeded({ doing, ...change })
        return yield* keep
      })
      return yield* turns(owner)(checked)
    })
