import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ShellFault } from "./faults.ts"

/** A command as a value: no shell joins its words. */
export interface ShellCommand {
  readonly program: string
  readonly args: readonly string[]
  /** What it reads. */
  readonly input?: string | Uint8Array
  readonly timeoutSeconds?: number
}

export interface ShellResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Commands on a hypervisor node. Output is capped at 1 MiB each. */
export class NodeShell extends Context.Service<
  NodeShell,
  {
    /** False when no shell access is configured: what needs it is left out and says so. */
    readonly available: boolean
    /** Whether there is one on this node; it may still not answer. */
    readonly reaches: (node: string) => boolean
    readonly run: (node: string, command: ShellCommand) => Effect.Effect<ShellResult, ShellFault>
  }
>()("rangewright/NodeShell") {}
