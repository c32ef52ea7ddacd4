import type { ObservedVpn, VpnDifference } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { VpnFault } from "./faults.ts"

/** The VPN server: a WireGuard interface, and the firewall rules for traffic from and to it. */
export class VpnServer extends Context.Service<
  VpnServer,
  {
    /** False when the service manages no VPN server: its operator then enters the peers by hand. */
    readonly available: boolean
    /** The current state; without pairs when the rules cannot be read. */
    readonly observe: Effect.Effect<ObservedVpn, VpnFault>
    /**
     * Applies these changes and touches no other peer: users who keep their access lose no packet. Only if the rules differ from the ones
     * this process loaded, for example after a restart, can packets be lost for some microseconds. Before the first peer is added, rules
     * are in place that let clients reach only what pairs allow, and let nothing else reach clients. Removing a pair also ends its open
     * connections. Peers are removed first, even if the rules cannot be changed. Safe to repeat; a failure may leave part of it done.
     */
    readonly apply: (difference: VpnDifference) => Effect.Effect<void, VpnFault>
    /** What blocks traffic between clients and these ranges, and how to fix it; for `doctor`. */
    readonly obstacles: (rangeNumbers: readonly number[]) => Effect.Effect<readonly string[], VpnFault>
  }
>()("rangewright/VpnServer") {}
