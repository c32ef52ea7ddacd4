import type { CollectionRequirement, InstallOutcome, RoleRequirement } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LibraryScope } from "./artifact-library.ts"
import type { InstallerFault } from "./faults.ts"

/**
 * Roles and collections to install, as a requirements file declares them. Without `subscription_roles`, which come from another registry.
 */
export interface InstallRequest {
  readonly scope: LibraryScope
  readonly roles: readonly RoleRequirement[]
  readonly collections: readonly CollectionRequirement[]
  /** Reinstalls what is installed, whatever its version. */
  readonly force: boolean
  /** Called with the tool's output in whole lines, secrets masked. */
  readonly output?: (text: string) => Effect.Effect<void>
}

export type { InstallOutcome } from "@rangewright/domain"

/**
 * Installs roles and collections, with their dependencies, from their public registries into a scope of the library. One call is one run of
 * the tool, however many requirements it has. Nothing is installed if one of its dependencies is not met. An item that could not be
 * installed does not affect the others; only a tool that does not work at all is a fault.
 */
export class RoleInstaller extends Context.Service<
  RoleInstaller,
  {
    /** One outcome per requirement, in order, roles first; then one for each dependency that was installed with them or could not be. */
    readonly install: (request: InstallRequest) => Effect.Effect<readonly InstallOutcome[], InstallerFault>
  }
>()("rangewright/RoleInstaller") {}
