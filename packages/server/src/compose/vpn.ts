import { VpnFault, VpnServer } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const none = Effect.fail(
  new VpnFault({
    doing: "look at the VPN's server",
    reason: "refused",
    detail: "the configuration names none",
  }),
)

/** The server of the VPN that the configuration means. */
export const bindVpn = (): Layer.Layer<VpnServer> =>
  Layer.succeed(VpnServer, { available: false, observe: none, apply: () => none })
