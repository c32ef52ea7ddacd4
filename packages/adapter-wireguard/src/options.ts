import type { ShellCommand, ShellFault, ShellResult } from "@rangewright/ports"
import type * as Effect from "effect/Effect"

/** Runs commands on the host of the VPN's server, with the rights to change its interface and its rules. */
export type HostShell = (command: ShellCommand) => Effect.Effect<ShellResult, ShellFault>

export interface WireguardOptions {
  /** The name of the interface, which is there and has its key. See `isInterfaceName`. */
  readonly interface: string
  readonly shell: HostShell
}

/** Whether an interface may have this name, and so may the table that is named after it. */
export const isInterfaceName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9_.-]{0,14}$/u.test(name)
