import type { CollectionRequirement, RoleRequirement } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LibraryScope } from "./artifact-library.ts"
import type { InstallerFault } from "./faults.ts"

/** Roles and collections that are to be there, as a requirements file declares them. Without `subscription_roles`: those come from elsewhere. */
export interface InstallRequest {
  readonly scope: LibraryScope
  readonly roles: readonly RoleRequirement[]
  readonly collections: readonly CollectionRequirement[]
  /** Installs again what is there, whatever its version. */
  readonly force: boolean
  /** Called with whole lines of what the tool prints, secrets masked. */
  readonly output?: (text: string) => Effect.Effect<void>
}

/** What became of one requirement. */
export interface InstallOutcome {
  readonly type: "role" | "collection"
  /** As the requirement names it; empty where the failure is of none in particular. */
  readonly name: string
  readonly version?: string
  /**
   * `installed`: it was fetched now, or replaced · `present`: it was there already, or comes with the host's tools, in a version that fits · `other-version`: it is there in
   * another version than the wanted one, and stays · `failed`: it could not be had.
   */
  readonly outcome: "installed" | "present" | "other-version" | "failed"
  /** Says why, for `other-version` and `failed`. */
  readonly because?: string
}

export type InstallerAvailability =
  | { readonly available: true; readonly version: string }
  | { readonly available: false; readonly because: string }

/**
 * Brings roles and collections, with what they depend on, from where the field publishes them into a scope of the library. One call for
 * many is one run of the tool. What could not be had leaves the others: only a tool that cannot work at all is a fault.
 */
export class RoleInstaller extends Context.Service<
  RoleInstaller,
  {
    readonly available: Effect.Effect<InstallerAvailability>
    /** One outcome for each requirement, and for each dependency that came with them. */
    readonly install: (request: InstallRequest) => Effect.Effect<readonly InstallOutcome[], InstallerFault>
  }
>()("rangewright/RoleInstaller") {}
