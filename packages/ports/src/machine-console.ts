import type { RangeId, Vmid } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ByteChannel } from "./byte-channel.ts"
import type { HypervisorFault } from "./faults.ts"

/** A machine whose console is asked for: where it was last seen, and the range whose mark it must carry. */
export interface ConsoleRef {
  readonly vmid: Vmid
  readonly node: string
  readonly range: RangeId
}

/** The screens and keyboards of machines. */
export class MachineConsole extends Context.Service<
  MachineConsole,
  {
    /**
     * Whether a console could be opened now, read live: `not-found`, `not-ours` for a template and for what does not carry the mark of the range,
     * `failed` while it does not run, `forbidden` where the service's account lacks the right.
     */
    readonly check: (machine: ConsoleRef) => Effect.Effect<void, HypervisorFault>
    /**
     * Connects to a machine's screen, until the scope is closed. What is carried is RFB 3.8 (RFC 6143) after its security: the next bytes are the viewer's
     * ClientInit and the machine's ServerInit. Fails as `check` does, and when the hypervisor gives no screen.
     */
    readonly open: (machine: ConsoleRef) => Effect.Effect<ByteChannel, HypervisorFault, Scope.Scope>
  }
>()("rangewright/MachineConsole") {}
