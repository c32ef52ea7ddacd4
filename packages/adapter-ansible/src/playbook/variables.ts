import type { Json, RangeDefaults } from "@rangewright/domain"
import type { Settings } from "./options.ts"
import type { Site } from "./site.ts"

/**
 * Variables that roles of others rely on, with the rank of extra variables (contract B 9.4). The range's configuration is a
 * file before them, so that `defaults` is here once more with all its keys. Left out: credentials of the hypervisor and the service's secrets.
 */
export const roleVariables = (settings: Pick<Settings, "variables">, site: Site, workspace: string): Json => {
  const { range, config, grants, user } = site
  return {
    ...settings.variables,
    username: user?.hypervisorUsername ?? "",
    range_id: range.id,
    range_second_octet: range.number,
    access_grants_array: grants.map(({ userId, userNumber, name, accessType }) => ({
      userID: userId,
      userNumber,
      name,
      accessType,
    })),
    ludus_testing_enabled: range.testing.enabled,
    vm_target_nodes: Object.fromEntries(site.hosts.map(({ name, seen }) => [name, seen.node])),
    global_role_vars: config?.globalRoleVars ?? {},
    ludus_install_path: workspace,
    ludus_users_dir: `${workspace}/users`,
    ludus_ranges_dir: `${workspace}/ranges`,
    only_roles: null,
    defaults: config === undefined ? {} : defaultsOf(config.defaults),
  }
}

/** As the file spells them (contract B 3.3). */
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
  ...(defaults.targetNode === undefined ? {} : { target_node: defaults.targetNode }),
})
