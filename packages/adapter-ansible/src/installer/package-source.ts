import type { WantedArtifact } from "@rangewright/domain"
import type { ArtifactEntry, InstallerFault } from "@rangewright/ports"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Something that was fetched, ready to be put into the library. */
export interface FetchedPackage {
  readonly type: "role" | "collection"
  /** The name under which it is to be installed. */
  readonly name: string
  readonly version: string | undefined
  readonly entries: readonly ArtifactEntry[]
  /** Undefined: nobody asked for it, it came with something that needs it. */
  readonly wanted: WantedArtifact | undefined
}

/** Something that could not be had, and why. */
export interface MissingPackage {
  readonly wanted: WantedArtifact
  readonly because: string
}

/** A place where roles and collections are published under names. */
export interface PackageSource {
  /**
   * Fetches all that is asked for at once; each of them arrives or is missed. What was fetched can be read until the scope ends. `wanted`
   * come from names, under names that are checked. `whose` tells those apart who share what can be fetched at a time.
   */
  readonly fetch: (
    wanted: readonly WantedArtifact[],
    output: (text: string) => Effect.Effect<void>,
    whose: string,
  ) => Effect.Effect<readonly (FetchedPackage | MissingPackage)[], InstallerFault, Scope.Scope>
}
