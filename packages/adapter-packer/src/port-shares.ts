import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Builds in progress whose ports are kept apart; any more of them share. */
const most = 16

/** Tells whether a build may serve at a port. */
export type MayServeAt = (port: number) => boolean

/**
 * Shares of the ports at which builds serve their answers. Packer chooses one long after it was told which are in use, and a machine that
 * finds another build at the port of its own is installed with the answers of that one. A build holds a share until its scope ends.
 */
export const openPortShares = (): Effect.Effect<MayServeAt, never, Scope.Scope> => {
  const builds = new Map(Array.from({ length: most }, (_, share) => [share, 0]))
  const count = (share: number, by: number) => builds.set(share, (builds.get(share) ?? 0) + by)
  return Effect.acquireRelease(
    Effect.sync(() => {
      const [[share] = [0]] = [...builds].toSorted(([, one], [, other]) => one - other)
      count(share, 1)
      return share
    }),
    (share) => Effect.sync(() => count(share, -1)),
  ).pipe(Effect.map((share) => (port) => port % most === share))
}
