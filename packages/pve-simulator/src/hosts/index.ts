export { hostsObstacle, type Ran } from "./command.ts"
export { type HostNic, type HostsOptions, type HostSpec, makeRealHosts, type RealHost, type RealHosts } from "./hosts.ts"
