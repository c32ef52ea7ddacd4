/**
 * A range configuration in the domain's terms: typed, with every default applied. `parseRangeConfig` creates it from the text of a
 * file; the planner, the firewall and the name service read it. Nothing here depends on how the file spells its keys.
 */

import type { Json } from "../../plan/action.ts"
import type { RoleSequence } from "../../plan/plan.ts"

/** Role variables and extensions. Never has a `__proto__` key. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** Text that may contain `{{ range_id }}`. `renderName` gives the name that machines, DNS and the hypervisor see. */
export type NameTemplate = string

export interface RangeConfig {
  /** In the order of the file; `machines[i]` is described at the path `ludus[i]`. */
  readonly machines: ReadonlyArray<MachineConfig>
  readonly router: RouterConfig
  readonly network: NetworkConfig
  readonly defaults: RangeDefaults
  /** Variables of every machine that has roles, and of the router; a machine's own `roleVars` override them. */
  readonly globalRoleVars: JsonObject
  readonly notify?: NotifyConfig | undefined
  /** The order in which roles run, unless a deploy asks for another one. */
  readonly roleSequence: RoleSequence
  /** Data of other tools, kept as it is. */
  readonly extensions: JsonObject
}

export interface MachineConfig {
  /** Name on the hypervisor and in inventories: the identity of the machine. Unique in the range. */
  readonly name: NameTemplate
  /** Host name inside the guest. Unique in the range. */
  readonly hostname: NameTemplate
  readonly template: string
  readonly os: MachineOs
  /** 2 to 255: VLAN tag, and third octet of the address. */
  readonly vlan: number
  /** 1 to 253: fourth octet of the address. */
  readonly octet: number
  /** GiB, 1 to 4096. */
  readonly ramGb: number
  /** GiB, 0.5 to 4096: the least that ballooning may leave. Absent: no ballooning. */
  readonly ramMinGb?: number | undefined
  /** Cores, 1 to 512. */
  readonly cpus: number
  readonly clone: CloneMode
  /** Use the configured address when the guest agent reports none. */
  readonly forceIp: boolean
  /** No waiting for an address, no static address, no host tasks. Has no effect on a domain controller. */
  readonly unmanaged: boolean
  readonly testing: TestingConfig
  readonly domain?: DomainConfig | undefined
  /** In the order of the file. */
  readonly roles: ReadonlyArray<RoleUse>
  readonly roleVars: JsonObject
  readonly ansibleGroups: ReadonlyArray<string>
  /** Further DNS names (wildcards allowed) for this machine's address. May contain template variables. */
  readonly dnsRewrites: ReadonlyArray<string>
  readonly dnsServers: DnsServers
  readonly targetNode?: NameTemplate | undefined
}

export type OsKind = "windows" | "linux" | "macos"
export type MachineOs =
  | ({ readonly kind: "windows" } & WindowsOptions)
  | { readonly kind: "linux"; readonly packages: ReadonlyArray<string> }
  | { readonly kind: "macos" }

export interface WindowsOptions {
  /** Give the machine new security identifiers before anything else is done to it. */
  readonly sysprep: boolean
  readonly additionalTools: boolean
  readonly ignorePackageChecksums: boolean
  readonly packages: ReadonlyArray<string>
  readonly office?: { readonly version: number; readonly arch: "64bit" | "32bit" } | undefined
  readonly visualStudio?: number | undefined
  readonly autologon: { readonly user?: string | undefined; readonly password?: string | undefined }
  readonly gpos: ReadonlyArray<GroupPolicy>
}
export type GroupPolicy = "disable_defender" | "anon_share_access"

/** `linked`: shares the template's disk; `full`: a disk of its own. */
export type CloneMode = "linked" | "full"

/** What happens to a machine when testing mode starts. */
export interface TestingConfig {
  readonly snapshot: boolean
  readonly blockInternet: boolean
}

export type DomainRole = "primary-dc" | "alt-dc" | "member"
export interface DomainConfig {
  readonly fqdn: string
  readonly role: DomainRole
}

/** A role on a machine, and the (machine, role) pairs that must have run before it. */
export interface RoleUse {
  readonly name: string
  readonly dependsOn: ReadonlyArray<RoleDependency>
}
export interface RoleDependency {
  readonly machine: NameTemplate
  readonly role: string
}

/** Without `primary`: the router's address in the machine's VLAN. */
export interface DnsServers {
  readonly primary?: string | undefined
  readonly secondary?: string | undefined
}

export interface RouterConfig {
  readonly name: NameTemplate
  readonly template: string
  readonly ramGb: number
  readonly ramMinGb?: number | undefined
  readonly cpus: number
  readonly roles: ReadonlyArray<RoleUse>
  readonly roleVars: JsonObject
  /** Shell commands, run last when the firewall is set up. */
  readonly iptablesCommands: ReadonlyArray<string>
  readonly outboundWireguard?: OutboundWireguard | undefined
  readonly inboundWireguard?: InboundWireguard | undefined
  readonly targetNode?: NameTemplate | undefined
}
export interface OutboundWireguard {
  /** A whole WireGuard client configuration; a secret. */
  readonly config: string
  readonly vlans: ReadonlyArray<number>
}
export interface InboundWireguard {
  readonly enabled: boolean
  readonly serverCidr: string
  readonly port: number
  readonly allowedVlans: ReadonlyArray<number>
}

export type FirewallAction = "ACCEPT" | "REJECT" | "DROP"
export interface NetworkConfig {
  /** Between VLANs of the range, unless a rule says otherwise. */
  readonly interVlanDefault: FirewallAction
  /** From the range to everything outside. */
  readonly externalDefault: FirewallAction
  /** From the range to VPN clients. */
  readonly wireguardDefault: FirewallAction
  /** IPv4 networks that the range never reaches. */
  readonly alwaysBlocked: ReadonlyArray<string>
  /** In the order of the file; where several match, the last one decides. */
  readonly rules: ReadonlyArray<FirewallRule>
}

export type Protocol = "tcp" | "udp" | "udplite" | "icmp" | "ipv6-icmp" | "esp" | "ah" | "sctp" | "all"
export interface FirewallRule {
  readonly name: string
  readonly source: Endpoint
  readonly destination: Endpoint
  readonly protocol: Protocol
  readonly ports: "all" | ReadonlyArray<PortRange>
  readonly action: FirewallAction
}
/** A VLAN, or: `public` everything outside the range, `all` the whole range, `wireguard` the VPN clients. */
export type Zone = number | "public" | "all" | "wireguard"
export interface Endpoint {
  readonly zone: Zone
  /** Only these addresses of the zone, both ends included. Never with `public` or `all`. */
  readonly octets?: { readonly first: number; readonly last: number } | undefined
}
/** Both ends included, 0 to 65535. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

export type FunctionalLevel = "Win2003" | "Win2008" | "Win2008R2" | "Win2012" | "Win2012R2" | "WinThreshold" | "Win2025"
export interface RangeDefaults {
  readonly snapshotWithRam: boolean
  /** Hours for which an earlier testing snapshot is reused. */
  readonly staleHours: number
  readonly domainFunctionalLevel: FunctionalLevel
  readonly forestFunctionalLevel: FunctionalLevel
  readonly domainAdmin: string
  readonly domainAdminPassword: string
  readonly domainUser: string
  readonly domainUserPassword: string
  readonly safeModePassword: string
  /** A name of the tz database. */
  readonly timezone: string
  readonly dynamicWallpaper: boolean
  /** Whether the logins of machines keep their template's password or each gets its own. Routers always get their own. */
  readonly machineLogins: "template" | "generated"
  readonly targetNode?: NameTemplate | undefined
}

export interface NotifyConfig {
  /** URLs that are notified of the end of a deploy; may contain secrets. */
  readonly urls: ReadonlyArray<string>
}
