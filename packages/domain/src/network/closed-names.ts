import { gatewayAddress, natHost } from "./addressing.ts"
import type { AllowedDomain } from "./allowed-domain.ts"
import { closedNamesPort, nameSet } from "./guard.ts"

/** What the name service of a closed range is told: where it listens, whom it asks, and for which names alone. */
export const closedNames = (rangeNumber: number, vlans: readonly number[], domains: readonly AllowedDomain[]) => ({
  port: closedNamesPort,
  listen: vlans.map((vlan) => gatewayAddress(rangeNumber, vlan)),
  upstream: natHost,
  domains: domains.map(({ name, address }) => {
    const set = nameSet(name)
    return { name, ...(address === undefined ? {} : { address }), ...(set === undefined ? {} : { set }) }
  }),
})
