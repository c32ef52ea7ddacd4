import {
  type Json,
  parseRangeConfig,
  type Range,
  type RangeId,
  rangeHosts,
  renderInventory,
  type RecordId,
  type SeenMachine,
  type User,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import type { Site } from "../../src/playbook/site.ts"
import { localhostVariables, roleEnvironment, roleVariables } from "../../src/playbook/variables.ts"

const configText = `ludus:
  - {vm_name: "{{ range_id }}-web", hostname: web, template: debian-12-x64-server-template, vlan: 10, ip_last_octet: 5, ram_gb: 2, cpus: 2, linux: true, ansible_groups: [shops]}
defaults: {timezone: Europe/Berlin, ad_domain_admin: chief}
global_role_vars: {team: blue}
notify: {urls: ["https://hooks.example/deploy"]}
ludus_extensions: {ui: {layout: [1, 2]}}
`
const config = (() => {
  const parsed = parseRangeConfig(configText, {})
  if (Result.isFailure(parsed)) throw new Error(JSON.stringify(parsed.failure))
  return parsed.success.config
})()

const range: Range = {
  id: "LAB" as RangeId,
  recordId: "lab000000000000" as RecordId,
  number: 7,
  name: "Lab",
  description: "",
  purpose: "",
  testing: { mode: "entering" },
} as unknown as Range

const machine = (name: string, vmid: number, node: string, isRouter: boolean): SeenMachine => ({
  vmid: vmid as Vmid,
  node,
  name,
  power: "running",
  template: false,
  pool: "LAB",
  cpus: 2,
  memoryMiB: 2048,
  tags: ["rangewright"],
  address: isRouter ? "192.0.2.107" : "10.7.10.5",
  isRouter,
})
const seen = [machine("LAB-web", 20_001, "pve2", false), machine("LAB-router-debian11-x64", 20_000, "pve1", true)]

/** What a role on LAB-web has around it; on a node of its own, the machine's cards are plugged into a bridge, else into a VNet. */
const siteOf = (bridge: string, more: Partial<Site> = {}): Site => {
  const hosts = rangeHosts(range, config, seen)
  const target = hosts.find(({ name }) => name === "LAB-web")!
  return {
    range,
    config,
    configText,
    grants: [{ userId: "bob" as UserId, userNumber: 4, name: "Bob", accessType: "Direct" }] as unknown as Site["grants"],
    user: { hypervisorUsername: "alice", hypervisorRealm: "pve", isAdmin: false } as unknown as User,
    license: { entitlements: ["PRO_ROLES"], licensedTo: "", active: true, message: "", expiresAt: undefined },
    hosts,
    target: { ...target, address: "10.7.10.5" },
    detail: {
      nics: [{ index: 0, model: "virtio", mac: "AA:BB:CC:00:00:01", bridge, tag: 10, firewall: false }],
    } as unknown as Site["detail"],
    logins: new Map(),
    foreignAddresses: [],
    ...more,
  }
}

const variables: Readonly<Record<string, Json>> = { proxmox_url: "https://pve.example:8006", sdn_zone: "labs", port: 8080 }
const known = (site: Site, given = variables) => roleVariables({ variables: given }, site, "/opt/ludus")

describe("what roles may rely on", () => {
  const ofOneNode: Readonly<Record<string, Json>> = {
    username: "alice",
    range_id: "LAB",
    range_second_octet: 7,
    access_grants_array: [{ userID: "bob", userNumber: 4, name: "Bob", accessType: "Direct" }],
    ludus_testing_enabled: true,
    ludus_entitlements: ["PRO_ROLES"],
    ludus_cluster_mode: false,
    vm_target_nodes: { "LAB-web": "pve2", "LAB-router-debian11-x64": "pve1" },
    range_default_target_node: "pve1",
    wireguard_port: 51_820,
    ludus_install_path: "/opt/ludus",
    ludus_users_dir: "/opt/ludus/users",
    ludus_ranges_dir: "/opt/ludus/ranges",
    wg_server_allowed_ips: "198.51.100.1/32",
    default_router_vm_name: "LAB-router-debian11-x64",
    global_role_vars: { team: "blue" },
    only_roles: null,
    proxmox_node: "pve1",
    proxmox_hostname: "pve1",
    ludus_nat_interface: "vmbr1000",
    // keys of the installation, a role variable of such a name has no effect
    proxmox_url: "https://pve.example:8006",
    sdn_zone: "labs",
    port: 8080,
  }
  it.each(Object.entries(ofOneNode))("the variable %s", (name, value) => {
    expect(known(siteOf("vmbr1007"))[name]).toEqual(value)
  })

  it("defaults are there with all their keys, those of the file before the built-in ones", () => {
    expect(known(siteOf("vmbr1007"))["defaults"]).toMatchObject({
      timezone: "Europe/Berlin",
      ad_domain_admin: "chief",
      ad_domain_user: "domainuser",
      stale_hours: 0,
    })
  })

  it("the roles that were asked for by name are told, and nothing where none were", () => {
    expect(roleVariables({ variables }, siteOf("vmbr1007"), "/opt/ludus", ["one", "two"])["only_roles"]).toEqual(["one", "two"])
    expect(roleVariables({ variables }, siteOf("vmbr1007"), "/opt/ludus", [])["only_roles"]).toBeNull()
  })

  it("in a cluster the range has a VNet, and its configuration may name the node", () => {
    const named = { ...config, defaults: { ...config.defaults, targetNode: "pve3" } } as Site["config"]
    const site = siteOf("r7", { config: named })
    expect(known(site)).toMatchObject({
      ludus_cluster_mode: true,
      ludus_nat_interface: "ludusnat",
      range_default_target_node: "pve3",
    })
    expect(localhostVariables({ variables }, site, "/scratch/home")).toMatchObject({ range_bridge_name: "r7", node_name: "pve3" })
  })

  it("the operator's configuration takes precedence over what the machines report", () => {
    const given = { proxmox_node: "pve9", ludus_nat_interface: "vmbr4" }
    expect(known(siteOf("vmbr1007"), given)).toMatchObject(given)
    expect(localhostVariables({ variables: given }, siteOf("vmbr1007"), "/scratch/home")["node_name"]).toBe("pve9")
  })

  it("an inactive licence includes nothing", () => {
    const license = { ...siteOf("vmbr1007").license, active: false }
    expect(known(siteOf("vmbr1007", { license }))["ludus_entitlements"]).toEqual([])
  })

  it("the service's host is described without a credential", () => {
    expect(localhostVariables({ variables }, siteOf("vmbr1007"), "/scratch/home")).toEqual({
      ansible_remote_tmp: "/scratch/home/.ansible/tmp",
      api_user: "alice@pve",
      node_name: "pve1",
      api_host: "pve.example",
      proxmox_default_behavior: "no_defaults",
      range_bridge_name: "vmbr1007",
    })
  })

  it("the environment tells the range and the hypervisor, and no credential", () => {
    const environment = roleEnvironment(
      { variables: { ...variables, proxmox_invalid_cert: true } },
      siteOf("vmbr1007"),
      "/scratch",
    )
    expect(environment).toEqual({
      PROXMOX_NODE: "pve1",
      PROXMOX_HOSTNAME: "pve1",
      PROXMOX_URL: "https://pve.example:8006",
      PROXMOX_INVALID_CERT: "true",
      LUDUS_RANGE_ID: "LAB",
      LUDUS_RANGE_NUMBER: "7",
      LUDUS_RANGE_CONFIG: "/scratch/range-config.yml",
      LUDUS_USER_IS_ADMIN: "false",
      LUDUS_RETURN_ALL_RANGES: "false",
    })
  })

  it("machines have what the hypervisor tells of them", () => {
    const inventory: unknown = parse(renderInventory([{ rangeId: range.id, hosts: siteOf("vmbr1007").hosts }]))
    expect(Object(inventory).all.children.LAB.hosts["LAB-web"]).toEqual({
      ansible_host: "10.7.10.5",
      ansible_user: "debian",
      ansible_password: "debian",
      ansible_become_password: "debian",
      ansible_ssh_common_args: "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null",
      groups: ["LAB", "LAB_linux_endpoints", "shops"],
      proxmox_cpus: 2,
      proxmox_id: "qemu/20001",
      proxmox_maxcpu: 2,
      proxmox_maxmem: 2_147_483_648,
      proxmox_name: "LAB-web",
      proxmox_node: "pve2",
      proxmox_os_id: "debian",
      proxmox_pool: "LAB",
      proxmox_status: "running",
      proxmox_tags: "rangewright",
      proxmox_type: "qemu",
      proxmox_vmid: 20_001,
    })
  })

  it("machines are in the groups of their pool, power, system and configuration", () => {
    const inventory: unknown = parse(renderInventory([{ rangeId: range.id, hosts: siteOf("vmbr1007").hosts }]))
    const groups = Object.entries(Object(inventory).all.children as Record<string, { hosts: object }>).map(
      ([name, { hosts }]) => [name, Object.keys(hosts).toSorted()] as const,
    )
    expect(Object.fromEntries(groups)).toEqual({
      LAB: ["LAB-router-debian11-x64", "LAB-web"],
      LAB_linux_endpoints: ["LAB-web"],
      LAB_router: ["LAB-router-debian11-x64"],
      debian: ["LAB-router-debian11-x64", "LAB-web"],
      running: ["LAB-router-debian11-x64", "LAB-web"],
      shops: ["LAB-web"],
    })
  })
})
