/** Turns a checked file, in its own spelling, into the typed model. */
import type { Json } from "../../plan/action.ts"
import type { RangeFile } from "./declare-range.ts"
import { network as networkShape, router as routerShape } from "./declare-network.ts"
import { absent } from "./decode.ts"
import { routerDefaults } from "./defaults.ts"
import type {
  Endpoint,
  FirewallRule,
  JsonObject,
  MachineConfig,
  MachineOs,
  NetworkConfig,
  PortRange,
  RangeConfig,
  RangeDefaults,
  RoleUse,
  RouterConfig,
} from "./model.ts"

type MachineFile = RangeFile["ludus"][number]
type WindowsFile = NonNullable<MachineFile["windows"]>
type RouterFile = NonNullable<RangeFile["router"]>
type NetworkFile = NonNullable<RangeFile["network"]>
type RuleFile = NetworkFile["rules"][number]
type DefaultsFile = NonNullable<RangeFile["defaults"]>
type RoleFile = MachineFile["roles"][number]

/** `server` must be the defaults that the file was declared with. */
export const build = (file: RangeFile, server: RangeDefaults): RangeConfig => ({
  machines: file.ludus.map(machine),
  router: router(file.router),
  network: network(file.network ?? absent(networkShape)),
  defaults: file.defaults === undefined ? server : { ...server, ...defaults(file.defaults) },
  globalRoleVars: mapping(file.global_role_vars),
  notify: file.notify === undefined ? undefined : { urls: file.notify.urls },
  roleSequence: file.ludus_extensions?.rangewright?.role_order ?? "file",
  extensions: mapping(file.ludus_extensions as Json | undefined),
})

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
/** Variables that are not an object are reported by `checkRangeConfig`, and set nothing. */
const mapping = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const machine = (file: MachineFile): MachineConfig => ({
  name: file.vm_name,
  hostname: file.hostname,
  template: file.template,
  os: system(file),
  vlan: file.vlan,
  octet: file.ip_last_octet,
  ramGb: file.ram_gb,
  ramMinGb: file.ram_min_gb,
  cpus: file.cpus,
  clone: file.full_clone ? "full" : "linked",
  forceIp: file.force_ip,
  unmanaged: file.unmanaged,
  testing: { snapshot: file.testing.snapshot, blockInternet: file.testing.block_internet },
  domain: file.domain,
  roles: file.roles.map(roleUse),
  roleVars: mapping(file.role_vars),
  ansibleGroups: file.ansible_groups,
  dnsRewrites: file.dns_rewrites,
  dnsServers: { primary: file.primary_dns_server, secondary: file.secondary_dns_server },
  targetNode: file.target_node,
})

const system = (file: MachineFile): MachineOs => {
  if (file.windows !== undefined) return windows(file.windows)
  if (file.linux !== undefined) return { kind: "linux", packages: typeof file.linux === "object" ? file.linux.packages : [] }
  return { kind: "macos" }
}

const windows = (file: WindowsFile): MachineOs => ({
  kind: "windows",
  sysprep: file.sysprep,
  additionalTools: file.install_additional_tools,
  ignorePackageChecksums: file.chocolatey_ignore_checksums,
  packages: file.chocolatey_packages,
  office: file.office_version === undefined ? undefined : { version: file.office_version, arch: file.office_arch ?? "64bit" },
  visualStudio: file.visual_studio_version,
  autologon: { user: file.autologon_user, password: file.autologon_password },
  gpos: file.gpos,
})

const roleUse = (file: RoleFile): RoleUse =>
  typeof file === "string"
    ? { name: file, dependsOn: [] }
    : { name: file.name, dependsOn: (file.depends_on ?? []).map(({ vm_name, role }) => ({ machine: vm_name, role })) }

const router = (given: RouterFile | undefined): RouterConfig => {
  const file = given ?? absent(routerShape)
  const inbound = file.inbound_wireguard
  return {
    name: file.vm_name,
    template: file.template,
    ramGb: file.ram_gb ?? routerDefaults.ramGb,
    ramMinGb: file.ram_min_gb ?? (file.ram_gb === undefined ? routerDefaults.ramMinGb : undefined),
    cpus: file.cpus,
    roles: file.roles.map(roleUse),
    roleVars: mapping(file.role_vars),
    // Elements that are not text are reported by `checkRangeConfig`, and ignored.
    iptablesCommands: file.iptables_commands.filter((command) => typeof command === "string"),
    outboundWireguard:
      file.outbound_wireguard_config === undefined
        ? undefined
        : { config: file.outbound_wireguard_config, vlans: file.outbound_wireguard_vlans },
    inboundWireguard:
      inbound === undefined
        ? undefined
        : { enabled: inbound.enabled, serverCidr: inbound.server_cidr, port: inbound.port, allowedVlans: inbound.allowed_vlans },
    targetNode: file.target_node,
  }
}

const network = (file: NetworkFile): NetworkConfig => ({
  interVlanDefault: file.inter_vlan_default,
  externalDefault: file.external_default,
  wireguardDefault: file.wireguard_vlan_default,
  alwaysBlocked: file.always_blocked_networks,
  rules: file.rules.map(rule),
})

const rule = (file: RuleFile): FirewallRule => ({
  name: file.name,
  source: endpoint(file.vlan_src, file.ip_last_octet_src),
  destination: endpoint(file.vlan_dst, file.ip_last_octet_dst),
  protocol: file.protocol,
  ports: portRanges(file.ports),
  action: file.action,
})

const endpoint = (zone: Endpoint["zone"], octets: number | string | undefined): Endpoint => {
  if (octets === undefined) return { zone }
  if (typeof octets === "number") return { zone, octets: { first: octets, last: octets } }
  const [first = 0, last = first] = octets.split("-").map(Number)
  return { zone, octets: { first, last } }
}

const portRanges = (ports: number | string): "all" | ReadonlyArray<PortRange> => {
  if (ports === "all") return ports
  if (typeof ports === "number") return [{ first: ports, last: ports }]
  return ports.split(",").map((item) => {
    const [first = 0, last = first] = item.trim().split(":").map(Number)
    return { first, last }
  })
}

const defaults = (file: DefaultsFile): RangeDefaults => ({
  snapshotWithRam: file.snapshot_with_RAM,
  staleHours: file.stale_hours,
  domainFunctionalLevel: file.ad_domain_functional_level,
  forestFunctionalLevel: file.ad_forest_functional_level,
  domainAdmin: file.ad_domain_admin,
  domainAdminPassword: file.ad_domain_admin_password,
  domainUser: file.ad_domain_user,
  domainUserPassword: file.ad_domain_user_password,
  safeModePassword: file.ad_domain_safe_mode_password,
  timezone: file.timezone,
  dynamicWallpaper: file.enable_dynamic_wallpaper,
  machineLogins: file.machine_logins,
  ...(file.target_node === undefined ? {} : { targetNode: file.target_node }),
})
