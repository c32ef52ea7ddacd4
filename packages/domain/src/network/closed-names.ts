import { gatewayAddress, natHost } from "./addressing.ts"
import type { AllowedDomain } from "./allowed-domain.ts"
import { closedNamesPort, nameSet } from "./guard.ts"

/** The settings of the name server in a closed range: where it listens, its upstream, and the only names it resolves. */
export const closedNames = (rangeNumber: number, vlans: readonly number[], domains: readonly AllowedDomain[]) => ({
  port: closedNamesPort,
  listen: vlans.map((vlan) => gatewayAddress(rangeNumber, vlan)),
  upstream: natHost,
  domains: domains.map(({ name, address }) => {
    const set = nameSet(name)
    return { name, ...(address === undefined ? {} : { address }), ...(set === undefined ? {} : { set }) }
  }),
})
