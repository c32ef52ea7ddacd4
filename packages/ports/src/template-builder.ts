import type { RunId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ArtifactEntry } from "./artifact-library.ts"
import type { BuildFault } from "./faults.ts"
import type { BuildAccount } from "./hypervisor-templates.ts"

/** One build of a template. Its id is that of its run. */
export interface TemplateBuild {
  readonly id: RunId
  /** Name of the template. */
  readonly template: string
  /** The files of the template's folder. */
  readonly files: readonly ArtifactEntry[]
  /** Path of the builder file among them. */
  readonly builderFile: string
  /** Node on which the VM is built. */
  readonly node: string
  readonly account: BuildAccount
  /** Called with the tool's output as it arrives: lines may be cut anywhere, and secrets are not masked. */
  readonly output: (text: string) => Effect.Effect<void>
}

export type BuilderAvailability =
  | { readonly available: true; readonly version: string }
  /** `because`: what is missing, one fact per entry; `hint`: how to fix it. */
  | { readonly available: false; readonly because: readonly string[]; readonly hint: string }

/**
 * Runs the tool that builds templates, on the service's host. It keeps nothing of a build after its end, and trusts none of its files: they
 * are other people's programs.
 */
export class TemplateBuilder extends Context.Service<
  TemplateBuilder,
  {
    /** Checked before each build; changes nothing. */
    readonly available: Effect.Effect<BuilderAvailability>
    /**
     * Builds, and returns when the tool has succeeded. The result is in the account's pool. On interruption it asks the tool to stop and
     * clean up, waits a limited time, then kills it. However it ends, no process or file of the tool is left.
     */
    readonly build: (build: TemplateBuild) => Effect.Effect<void, BuildFault>
    /** Removes what a build left when the service was killed: processes and files. There may be none. */
    readonly clear: (id: RunId) => Effect.Effect<void, BuildFault>
  }
>()("rangewright/TemplateBuilder") {}
