import { type DiskPart, diskParts, diskUse, type User, type UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Settings } from "../settings.ts"
import { keyedLock } from "../source/keyed-lock.ts"
import { diskLimit, keptBy, type KeptServices, sizesOf, type UncountedFault } from "./kept.ts"

/** What a user keeps on the service's host: the total in bytes, and each item. */
export interface DiskReport {
  readonly usedBytes: number
  readonly parts: readonly DiskPart[]
}

/** One reader counts what was not counted yet; concurrent readers then find it counted. */
const readers = keyedLock()

/** The current state. Cheap: known sizes are not counted again, and none of their folders is walked (ADR 81). */
export const diskReport = (userId: UserId): Effect.Effect<DiskReport, UncountedFault, KeptServices> =>
  readers(userId)(
    Effect.gen(function* () {
      const things = [...(yield* keptBy(userId)).values()]
      const sizeOf = yield* sizesOf(things)
      return { usedBytes: diskUse(things, sizeOf), parts: diskParts(things, sizeOf) }
    }),
  )

/** The disk members of a quota status: without a figure when it cannot be counted, since 0 would be false. */
export const diskMembers = (user: Pick<User, "id" | "isAdmin">) =>
  Effect.gen(function* () {
    const limitDiskBytes = diskLimit(yield* Settings, user)
    const counted = yield* Effect.option(
      Effect.tapError(diskReport(user.id), ({ message }) =>
        Effect.logWarning(`the disk use of ${user.id} on this host could not be counted: ${message}`),
      ),
    )
    return Option.match(counted, {
      onNone: () => ({ limitDiskBytes }),
      onSome: ({ usedBytes }) => ({ limitDiskBytes, usedDiskBytes: usedBytes }),
    })
  })
