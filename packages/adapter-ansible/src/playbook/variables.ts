import {
  accountIdOf,
  bridgeName,
  isClosed,
  type Json,
  natNetworkName,
  type RangeDefaults,
  renderName,
  routerDefaults,
  vnetName,
  vpnServer,
} from "@rangewright/domain"
import { join } from "node:path"
import type { Settings } from "./options.ts"
import type { Site } from "./site.ts"

type Fields = Readonly<Record<string, Json>>

/** Port of an installation's VPN. */
const wireguardPort = 51_820

/** Facts of the installation derived from the range's machines: their node, and their networks. */
const seenOf = ({ range, config, hosts, target, detail }: Site) => {
  const isCluster = detail.nics.some(({ bridge }) => bridge === vnetName(range.number))
  const named = config?.defaults.targetNode
  return {
    isCluster,
    network: isCluster ? vnetName(range.number) : bridgeName(range.number),
    defaultNode:
      named === undefined
        ? (hosts.find(({ seen }) => seen.isRouter) ?? target).seen.node
        : renderName(named, { rangeId: range.id }),
  }
}

/**
 * Variables that third-party roles rely on, as extra variables: a role's own variable of the same name has no effect. The range's
 * configuration is a file that precedes them, so `defaults` is repeated here with all its keys. Left out: credentials of the hypervisor and
 * the service's secrets.
 */
export const roleVariables = (
  settings: Pick<Settings, "variables">,
  site: Site,
  workspace: string,
  onlyRoles: readonly string[] = [],
): Fields => {
  const { range, config, grants, user, license } = site
  const { isCluster, defaultNode } = seenOf(site)
  return {
    proxmox_node: defaultNode,
    proxmox_hostname: defaultNode,
    ludus_nat_interface: natNetworkName(isCluster),
    wireguard_port: wireguardPort,
    wg_server_allowed_ips: `${vpnServer}/32`,
    ...settings.variables,
    default_router_vm_name: renderName(routerDefaults.name, { rangeId: range.id }),
    username: user?.hypervisorUsername ?? "",
    range_id: range.id,
    range_second_octet: range.number,
    access_grants_array: grants.map(({ userId, userNumber, name, accessType }) => ({
      userID: userId,
      userNumber,
      name,
      accessType,
    })),
    ludus_testing_enabled: isClosed(range.testing),
    ludus_entitlements: license.active ? license.entitlements : [],
    ludus_cluster_mode: isCluster,
    range_default_target_node: defaultNode,
    vm_target_nodes: Object.fromEntries(site.hosts.map(({ name, seen }) => [name, seen.node])),
    global_role_vars: config?.globalRoleVars ?? {},
    ludus_install_path: workspace,
    ludus_users_dir: `${workspace}/users`,
    ludus_ranges_dir: `${workspace}/ranges`,
    only_roles: onlyRoles.length === 0 ? null : onlyRoles,
    defaults: config === undefined ? {} : defaultsOf(config.defaults),
  }
}

/**
 * Variables of `localhost`, the service's host, as roles know them. Of the hypervisor account they contain only the name: its token's id
 * and secret (`proxmox_full_token_id`, `proxmox_token_secret`) belong to the service, and no role needs them.
 */
export const localhostVariables = (settings: Pick<Settings, "variables">, site: Site, home: string): Fields => {
  const { proxmox_node: node, proxmox_url: url } = roleVariables(settings, site, "")
  const { user } = site
  return {
    ansible_remote_tmp: `${home}/.ansible/tmp`,
    ...(user === undefined ? {} : { api_user: accountIdOf(user) }),
    node_name: node ?? null,
    ...(typeof url === "string" && URL.canParse(url) ? { api_host: new URL(url).hostname } : {}),
    proxmox_default_behavior: "no_defaults",
    range_bridge_name: seenOf(site).network,
  }
}

const asText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value))

/** Roles find these in their environment too. Credentials of the hypervisor are not among them. */
export const roleEnvironment = (
  settings: Pick<Settings, "variables">,
  site: Site,
  scratch: string,
): Readonly<Record<string, string>> => {
  const known = roleVariables(settings, site, "")
  const ofHypervisor = ["proxmox_node", "proxmox_url", "proxmox_hostname", "proxmox_invalid_cert"].flatMap((name) => {
    const value = known[name]
    return value === undefined ? [] : [[name.toUpperCase(), asText(value)] as const]
  })
  return {
    ...Object.fromEntries(ofHypervisor),
    LUDUS_RANGE_ID: site.range.id,
    LUDUS_RANGE_NUMBER: String(site.range.number),
    LUDUS_RANGE_CONFIG: join(scratch, "range-config.yml"),
    LUDUS_USER_IS_ADMIN: String(site.user?.isAdmin === true),
    LUDUS_RETURN_ALL_RANGES: "false",
  }
}

/** Spelled as in the file. */
const defaultsOf = (defaults: RangeDefaults): Json => ({
  snapshot_with_RAM: defaults.snapshotWithRam,
  stale_hours: defaults.staleHours,
  ad_domain_functional_level: defaults.domainFunctionalLevel,
  ad_forest_functional_level: defaults.forestFunctionalLevel,
  ad_domain_admin: defaults.domainAdmin,
  ad_domain_admin_password: defaults.domainAdminPassword,
  ad_domain_user: defaults.domainUser,
  ad_domain_user_password: defaults.domainUserPassword,
  ad_domain_safe_mode_password: defaults.safeModePassword,
  timezone: defaults.timezone,
  enable_dynamic_wallpaper: defaults.dynamicWallpaper,
  machine_logins: defaults.machineLogins,
  ...(defaults.targetNode === undefined ? {} : { target_node: defaults.targetNode }),
})
