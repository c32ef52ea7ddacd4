import type { ObservedVpn, VpnDifference } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { VpnFault } from "./faults.ts"

/** The server of the VPN: an interface of WireGuard, and the rules that judge what comes from it and goes to it. */
export class VpnServer extends Context.Service<
  VpnServer,
  {
    /** False when the service looks after none: whoever does enters the peers by hand. */
    readonly available: boolean
    /** As it is now; without pairs when its rules cannot be looked at. */
    readonly observe: Effect.Effect<ObservedVpn, VpnFault>
    /**
     * Makes these changes, and touches no other peer: connections of those who keep their access go on without losing a packet. Where the rules
     * were not as this process loaded them, as after its start, packets of some microseconds can be lost. Clients reach nothing but what pairs
     * name, and nobody else reaches clients, from before the first peer is there. A pair that is gone ends what goes on between both at once.
     * Peers are removed first, also when the rules cannot be changed. Repeating it is safe. When it fails, some of it may have been done.
     */
    readonly apply: (difference: VpnDifference) => Effect.Effect<void, VpnFault>
    /** What keeps packets from going between clients and these ranges, and what to do, for `doctor`. */
    readonly obstacles: (rangeNumbers: readonly number[]) => Effect.Effect<readonly string[], VpnFault>
  }
>()("rangewright/VpnServer") {}
