export { hostsObstacle, type Ran } from "./command.ts"
export type { HostAddress, HostNic, HostSpec, RealHost } from "./host.ts"
export { type HostsOptions, makeRealHosts, type RealHosts } from "./hosts.ts"
export { realGuests, type RealGuests } from "./real-guests.ts"
