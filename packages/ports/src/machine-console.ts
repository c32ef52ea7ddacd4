import type { RangeId, Vmid } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ByteChannel } from "./byte-channel.ts"
import type { HypervisorFault } from "./faults.ts"

/** A machine whose console is requested: where it was last seen, and the range whose mark it must carry. */
export interface ConsoleRef {
  readonly vmid: Vmid
  readonly node: string
  readonly range: RangeId
}

/**
 * The response to a VNC challenge of 16 bytes by a viewer with this password: `CredentialHasher.vncAnswer`, passed in because an adapter
 * does not use another one's port.
 */
export type VncAnswer = (password: string, challenge: Uint8Array) => Uint8Array

/** The screens and keyboards of machines. */
export class MachineConsole extends Context.Service<
  MachineConsole,
  {
    /**
     * Checks live whether a console could be opened now: `not-found`; `not-ours` for a template and for a VM without the range's mark;
     * `failed` while it is not running; `forbidden` if the service's account lacks the right.
     */
    readonly check: (machine: ConsoleRef) => Effect.Effect<void, HypervisorFault>
    /**
     * Connects to a machine's screen until the scope is closed. The channel carries RFB 3.8 (RFC 6143) after the security handshake: the
     * next bytes are the viewer's ClientInit and the machine's ServerInit. Fails as `check` does, and when the hypervisor provides no
     * screen. `answer` is for a hypervisor that asks the service for a password.
     */
    readonly open: (machine: ConsoleRef, answer: VncAnswer) => Effect.Effect<ByteChannel, HypervisorFault, Scope.Scope>
  }
>()("rangewright/MachineConsole") {}
