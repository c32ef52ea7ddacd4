import type { RunId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ArtifactEntry } from "./artifact-library.ts"
import type { BuildFault } from "./faults.ts"
import type { BuildAccount } from "./hypervisor-templates.ts"

/** One build of a template. Its id is that of its run. */
export interface TemplateBuild {
  readonly id: RunId
  /** What the template is to be called. */
  readonly template: string
  /** The files of the template's folder. */
  readonly files: readonly ArtifactEntry[]
  /** Which of them is the builder file. */
  readonly builderFile: string
  /** Where the VM is made. */
  readonly node: string
  readonly account: BuildAccount
  /** Called with what the tool prints, as it comes: lines may be cut anywhere, and secrets are not covered. */
  readonly output: (text: string) => Effect.Effect<void>
}

export type BuilderAvailability =
  | { readonly available: true; readonly version: string }
  /** What is missing, one fact each, and what to do about it. */
  | { readonly available: false; readonly because: readonly string[]; readonly hint: string }

/**
 * Runs the tool that builds templates, on the service's host. It keeps nothing of a build beyond its end, and trusts nothing in its files:
 * they are strangers' programs.
 */
export class TemplateBuilder extends Context.Service<
  TemplateBuilder,
  {
    /** Asked before each build; looks, and changes nothing. */
    readonly available: Effect.Effect<BuilderAvailability>
    /**
     * Builds, and returns when the tool has succeeded. What it made is in the account's pool. An interruption asks the tool to stop and clean
     * up, waits for it, but not for long, and ends it. Of the tool no process and no file is left when this is over, however it ends.
     */
    readonly build: (build: TemplateBuild) => Effect.Effect<void, BuildFault>
    /** Ends what a killed service left of a build: processes and files. There may be none. */
    readonly clear: (id: RunId) => Effect.Effect<void, BuildFault>
  }
>()("rangewright/TemplateBuilder") {}
