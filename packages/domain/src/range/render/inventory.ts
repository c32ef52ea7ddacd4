import { stringify } from "yaml"
import type { RangeId } from "../../access/ids.ts"
import { guestLoginOf } from "./guest-login.ts"
import type { RangeHost } from "./host.ts"

/** The hosts of one range, for an inventory. */
export interface InventoryRange {
  readonly rangeId: RangeId
  readonly hosts: readonly RangeHost[]
}

type Variables = Readonly<Record<string, string | number | boolean | readonly string[]>>

/**
 * An Ansible inventory in the form that `ansible-inventory --list -y` prints: the groups below `all`, each host's variables where it first
 * occurs. Made from stored state and configuration alone. Its credentials are the well-known ones of the templates, and the passwords
 * that the service gave to machines.
 */
export const renderInventory = (ranges: readonly InventoryRange[]): string => {
  const groups = groupsOf(ranges)
  const described = new Set<string>()
  const children: Record<string, { hosts?: Record<string, Variables> }> = {}
  for (const [group, hosts] of [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const members: Record<string, Variables> = {}
    for (const host of hosts) {
      members[host.name] = described.has(host.name) ? {} : variablesOf(host)
      described.add(host.name)
    }
    children[group] = hosts.length === 0 ? {} : { hosts: members }
  }
  // Ansible reads YAML 1.1: this version makes the printer quote `yes`, `on` and the like
  return stringify({ all: { children } }, { version: "1.1", indentSeq: false, lineWidth: 0, aliasDuplicateObjects: false })
}

const groupsOf = (ranges: readonly InventoryRange[]): ReadonlyMap<string, readonly RangeHost[]> => {
  const groups = new Map<string, RangeHost[]>()
  const meant = new Set(ranges.flatMap(({ rangeId, hosts }) => [rangeId, ...hosts.flatMap((host) => host.groups)]))
  // what a machine claims about itself does not put it into a group that somebody has given another meaning
  const mayJoin = ({ isOsClaimed = false }: RangeHost, group: string): boolean => !isOsClaimed || !meant.has(group)
  for (const { rangeId, hosts } of ranges) {
    groups.set(rangeId, [])
    for (const host of hosts) {
      const own = [
        ...host.groups,
        ...(host.osId === undefined || !mayJoin(host, host.osId) ? [] : [host.osId]),
        ...(host.seen.power === "running" ? ["running"] : []),
      ]
      for (const group of new Set(own)) groups.set(group, [...(groups.get(group) ?? []), host])
    }
  }
  // `all` is the root, and the printer's objects cannot have a key `__proto__`
  groups.delete("all")
  groups.delete("__proto__")
  return groups
}

const variablesOf = (host: RangeHost): Variables => ({
  ...connectionOf(host),
  ...(host.address === undefined ? {} : { ansible_host: host.address }),
  groups: host.groups,
  proxmox_cpus: host.seen.cpus,
  proxmox_id: `qemu/${host.seen.vmid}`,
  proxmox_maxcpu: host.seen.cpus,
  proxmox_maxmem: host.seen.memoryMiB * 1_048_576,
  proxmox_name: host.name,
  proxmox_node: host.seen.node,
  ...systemOf(host),
  ...(host.seen.pool === undefined ? {} : { proxmox_pool: host.seen.pool }),
  proxmox_status: host.seen.power,
  ...(host.seen.tags.length === 0 ? {} : { proxmox_tags: host.seen.tags.join(";") }),
  proxmox_type: "qemu",
  proxmox_vmid: host.seen.vmid,
})

/** What the agent reported, in plain words only (`readGuestSystem`): Ansible would evaluate templates in it. */
const systemOf = ({ osId, system }: RangeHost): Variables => ({
  ...(osId === undefined ? {} : { proxmox_os_id: osId }),
  ...(system?.kernel === undefined ? {} : { proxmox_os_kernel: system.kernel }),
  ...(system?.machine === undefined ? {} : { proxmox_os_machine: system.machine }),
  ...(system?.name === undefined ? {} : { proxmox_os_name: system.name }),
  ...(system?.versionId === undefined ? {} : { proxmox_os_version_id: system.versionId }),
})

const connectionOf = (host: RangeHost): Variables => {
  const login = guestLoginOf(host)
  if (login === undefined) return {}
  if (login.connection === "winrm")
    return {
      ansible_connection: "winrm",
      ansible_password: login.password,
      ansible_user: login.user,
      ansible_winrm_operation_timeout_sec: 240,
      ansible_winrm_read_timeout_sec: 320,
      ansible_winrm_scheme: "https",
      ansible_winrm_server_cert_validation: "ignore",
    }
  return {
    ...(login.user === "root" || host.osId === "macos" ? {} : { ansible_become_password: login.password }),
    ansible_password: login.password,
    ansible_ssh_common_args: "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null",
    ansible_user: login.user,
  }
}
