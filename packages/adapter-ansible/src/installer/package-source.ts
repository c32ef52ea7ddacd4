import type { WantedArtifact } from "@rangewright/domain"
import type { ArtifactEntry, InstallerFault } from "@rangewright/ports"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** A fetched package, ready to be installed into the library. */
export interface FetchedPackage {
  readonly type: "role" | "collection"
  /** The name to install it under. */
  readonly name: string
  readonly version: string | undefined
  readonly entries: readonly ArtifactEntry[]
  /** Undefined when it was not requested but came as a dependency. */
  readonly wanted: WantedArtifact | undefined
}

/** A package that could not be fetched, and why. */
export interface MissingPackage {
  readonly wanted: WantedArtifact
  readonly because: string
}

/** A source of published roles and collections. */
export interface PackageSource {
  /**
   * Fetches everything that is requested at once; each package is either fetched or reported missing. Fetched files can be read until the
   * scope ends. The names in `wanted` are validated. `whose` identifies the owner for the limit of concurrent fetches.
   */
  readonly fetch: (
    wanted: readonly WantedArtifact[],
    output: (text: string) => Effect.Effect<void>,
    whose: string,
  ) => Effect.Effect<readonly (FetchedPackage | MissingPackage)[], InstallerFault, Scope.Scope>
}
