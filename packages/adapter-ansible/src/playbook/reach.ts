import { type Cidr, parseCidr, rangeNetwork, wanAddress } from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import type { Dial, Reach, ToolHost } from "@rangewright/host-tools"
import type { Way } from "./jump.ts"
import type { Settings } from "./options.ts"
import type { Site } from "./site.ts"

const only = (address: string): readonly Cidr[] => {
  const cidr = parseCidr(address)
  return cidr === undefined ? [] : [cidr]
}

/** Outside addresses of the range's router: its own, and until it has that, the one leased at its first boot. */
const routerAddresses = ({ range, target }: Site): readonly Cidr[] =>
  [wanAddress(range.number), ...(target.seen.isRouter ? [target.address] : [])].flatMap(only)

/** What a run on a machine may connect to: the machines and the router of its range, and for roles public addresses. */
export const reachOf = (task: GuestTask, site: Site): Reach => ({
  networks: [rangeNetwork(site.range.number), ...routerAddresses(site)],
  servers: [],
  internet: task.stage === "role",
})

/** Connects to the range through its way; to everything else, and to a router that is itself the way, from the service's host. */
export const dialFrom = ({ route }: Pick<Settings, "route">, host: ToolHost, site: Site, way: Way | undefined): Dial => {
  const [network] = [rangeNetwork(site.range.number)]
  if (way === undefined) return host.dial
  const isBehind = ({ first, last }: Cidr) => network.first <= first && last <= network.last
  const isWay = ({ first }: Cidr) => routerAddresses(site).some((router) => router.first === first)
  return (address, port) => {
    const [at] = only(address)
    if (at === undefined) return host.dial(address, port)
    const throughIt = isBehind(at) || (route.type === "jump" && isWay(at))
    return throughIt ? way.dial(address, port) : host.dial(address, port)
  }
}
