import type { ShellCommand, ShellFault, ShellResult } from "@rangewright/ports"
import type * as Effect from "effect/Effect"

/** Runs commands on the VPN server's host, with the rights to change its interface and rules. */
export type HostShell = (command: ShellCommand) => Effect.Effect<ShellResult, ShellFault>

export interface WireguardOptions {
  /** Name of the interface, which must exist and have its key. See `isInterfaceName`. */
  readonly interface: string
  readonly shell: HostShell
}

/** Whether an interface, and the table named after it, may have this name. */
export const isInterfaceName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9_.-]{0,14}$/u.test(name)
