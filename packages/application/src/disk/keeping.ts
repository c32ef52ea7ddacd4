import { diskUse, exceedsDisk, type KeptThing, UserDiskExceeded, type UserId } from "@rangewright/domain"
import { type Blueprints, type StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"
import { keyedLock } from "../source/keyed-lock.ts"
import { diskLimit, keptBy, type KeptServices, sizesOf, type UncountedFault } from "./kept.ts"

/** Whatever tells what a user keeps, and may keep. */
export type DiskServices = KeptServices | Settings | Users

/** That it is too much, or that it cannot be counted: then nothing is added either. */
export type DiskFault = UserDiskExceeded | UncountedFault

/** Two at once must not both find the last of what a user may have. */
const turns = keyedLock()

/** Something that a user is to keep. */
export interface ToBeKept {
  readonly owner: UserId
  /** Completes "Cannot …". */
  readonly doing: string
  readonly name: string
  /** What is there under this name becomes this, asked when nothing else of the user's changes; what takes no more than before is never refused. */
  readonly becomes: (there: KeptThing | undefined) => Effect.Effect<KeptThing, StorageFault, Blueprints>
}

/**
 * Does `keep`, which stores something of a user's on this host, unless it is more than the user may keep there. The user's other things
 * wait meanwhile, so `keep` is to be short, and must not be nested. Administrators may keep as much as there is.
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
