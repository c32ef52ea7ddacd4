import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ShellFault } from "./faults.ts"

/** A command as a program and its arguments; no shell parses it. */
export interface ShellCommand {
  readonly program: string
  readonly args: readonly string[]
  /** Its standard input. */
  readonly input?: string | Uint8Array
  readonly timeoutSeconds?: number
}

export interface ShellResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs commands on a hypervisor node. stdout and stderr are capped at 1 MiB each. */
export class NodeShell extends Context.Service<
  NodeShell,
  {
    /** False when no shell access is configured: features that need it are skipped and say so. */
    readonly available: boolean
    /** Whether shell access to this node is configured; the node may still not answer. */
    readonly reaches: (node: string) => boolean
    readonly run: (node: string, command: ShellCommand) => Effect.Effect<ShellResult, ShellFault>
  }
>()("rangewright/NodeShell") {}
