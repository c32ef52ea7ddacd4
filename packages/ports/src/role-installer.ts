import type { CollectionRequirement, InstallOutcome, RoleRequirement } from "@rangewright/domain"
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

export type { InstallOutcome } from "@rangewright/domain"

/**
 * Brings roles and collections, with what they depend on, from where the field publishes them into a scope of the library. One call for
 * many is one run of the tool. Nothing is installed of which a need is not met. What could not be had leaves the others: only a tool that
 * cannot work at all is a fault.
 */
export class RoleInstaller extends Context.Service<
  RoleInstaller,
  {
    /** One outcome for each requirement, in their order, roles first; then those of what they need that came with them or could not be had. */
    readonly install: (request: InstallRequest) => Effect.Effect<readonly InstallOutcome[], InstallerFault>
  }
>()("rangewright/RoleInstaller") {}
