/** The input of each stage inside a machine. Secrets are under keys that `isSecretKey` recognizes. */
import { dnsNames } from "../network/dns.ts"
import { allowedDomain, type AllowedDomain } from "../network/allowed-domain.ts"
import { type FirewallInput, grantComment, packetFilter, type TestingFirewall } from "../network/firewall.ts"
import { closedNames } from "../network/closed-names.ts"
import { renderGuard } from "../network/guard.ts"
import { renderIptablesRestore } from "../network/iptables.ts"
import { type Disguise, disguisedNic, shownComputer } from "../machine/disguise.ts"
import { macOf } from "../machine/mark.ts"
import { parseCidr } from "../network/cidr.ts"
import { identify } from "./identify.ts"
import { gatewayAddress, machineAddress, natHost, vpnAddress, wanAddress } from "../network/addressing.ts"
import type { RangeId } from "../access/ids.ts"
import { type MachineConfig, renderName } from "../range/config/index.ts"
import { isClosed } from "../range/range.ts"
import type { Json } from "./action.ts"
import { type Described, disguiseOf, type DomainPlace, type StageContext } from "./stage-context.ts"
import type { PlanWorld } from "./world.ts"

export type Windows = Extract<MachineConfig["os"], { readonly kind: "windows" }>

/** The DNS zone for names that are only known locally, for machines without a domain and beside that of a domain. */
const searchDomain = "home.arpa"

/** JSON has no undefined: keys without a value are left out. */
const object = (entries: Readonly<Record<string, Json | undefined>>): { readonly [key: string]: Json } =>
  Object.fromEntries(Object.entries(entries).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))

const addressOf = ({ input }: StageContext, machine: MachineConfig): string =>
  machineAddress(input.range.number, machine.vlan, machine.octet)

const routerLeg = ({ input }: { readonly input: Described }, machine: MachineConfig): string =>
  gatewayAddress(input.range.number, machine.vlan)

const nameServers = (context: StageContext, machine: MachineConfig): readonly string[] => [
  machine.dnsServers.primary ?? routerLeg(context, machine),
  ...(machine.dnsServers.secondary === undefined ? [] : [machine.dnsServers.secondary]),
]

/** The first label, cut to the 15 characters that NetBIOS allows. */
const netbiosName = (fqdn: string): string => (fqdn.split(".")[0] ?? fqdn).slice(0, 15).toUpperCase()

/** Tells a stage to give the machine's login a password of its own. The password is not part of the input. */
const ownLogin = { login: "generated" } as const

const loginOf = ({ input }: StageContext, { os }: MachineConfig) =>
  input.config.defaults.machineLogins === "generated" && os.kind !== "macos" ? ownLogin : {}

export const address = (context: StageContext, machine: MachineConfig): Json => ({
  interface: 0,
  address: `${addressOf(context, machine)}/24`,
  gateway: routerLeg(context, machine),
  dns: nameServers(context, machine),
  search: searchDomain,
  hostname: context.nameOf(machine.hostname),
  timezone: context.input.config.defaults.timezone,
  // another card starts without an address in Windows: the stage must run again when it comes or goes, also by a rollback
  ...(disguiseOf(context, machine) === undefined ? {} : { card: disguisedNic }),
  ...loginOf(context, machine),
})

export const windowsBase = (context: StageContext, machine: MachineConfig, os: Windows): Json => {
  const place = context.placeOf(machine)
  return object({
    dns: nameServers(context, machine),
    wallpaper: context.input.config.defaults.dynamicWallpaper,
    // in a domain they belong to the domain, whose stages set them: before those, none of its users is known
    autologon: place === undefined ? autologon(context, os, place) : undefined,
    gpos: place === undefined ? os.gpos : undefined,
    // the user that is logged on automatically may be the machine's login
    ...loginOf(context, machine),
  })
}

/** The user that a machine logs on automatically: the configured one, else its domain's, else the local one. */
const autologon = ({ input }: StageContext, os: Windows, place: DomainPlace | undefined): Json => {
  const { defaults } = input.config
  if (os.autologon.user !== undefined) return object({ user: os.autologon.user, password: os.autologon.password })
  if (place === undefined) return { user: "localuser" }
  return place.role === "member"
    ? { user: defaults.domainUser, password: defaults.domainUserPassword, domain: netbiosName(place.fqdn) }
    : { user: defaults.domainAdmin, password: defaults.domainAdminPassword, domain: netbiosName(place.fqdn) }
}

/** What Windows itself shows of the computer. Without a disguise, the original values are restored. */
export const antiSandbox = (disguise: Disguise | undefined): Json => {
  if (disguise === undefined) return { disguised: false }
  const { manufacturer, product, bios } = shownComputer(disguise)
  return object({
    disguised: true,
    manufacturer,
    product,
    bios,
    processor_name: disguise.processorName,
    processor_vendor: disguise.processorVendor,
    processor_mhz: disguise.processorSpeed === undefined ? undefined : Number(disguise.processorSpeed),
    processor_identifier: disguise.processorIdentifier,
    owner: disguise.registeredOwner,
    organization: disguise.registeredOrganization,
    drop_files: disguise.dropFiles,
    browser_data: disguise.browserData,
    persist: disguise.persist,
  })
}

export const primaryController = (context: StageContext, machine: MachineConfig, os: Windows, place: DomainPlace): Json => {
  const { defaults } = context.input.config
  return {
    fqdn: place.fqdn,
    netbios_name: netbiosName(place.fqdn),
    domain_functional_level: defaults.domainFunctionalLevel,
    forest_functional_level: defaults.forestFunctionalLevel,
    safe_mode_password: defaults.safeModePassword,
    admin_user: defaults.domainAdmin,
    admin_password: defaults.domainAdminPassword,
    user: defaults.domainUser,
    user_password: defaults.domainUserPassword,
    forwarder: routerLeg(context, machine),
    search: [place.fqdn, searchDomain],
    gpos: os.gpos,
    autologon: autologon(context, os, place),
  }
}

export const additionalController = (context: StageContext, machine: MachineConfig, os: Windows, place: DomainPlace): Json => {
  const { defaults } = context.input.config
  return object({
    fqdn: place.fqdn,
    dns: place.primary === undefined ? undefined : [place.primary.address],
    safe_mode_password: defaults.safeModePassword,
    admin_user: defaults.domainAdmin,
    admin_password: defaults.domainAdminPassword,
    forwarder: routerLeg(context, machine),
    search: [place.fqdn, searchDomain],
    gpos: os.gpos,
    autologon: autologon(context, os, place),
  })
}

export const domainJoin = (context: StageContext, machine: MachineConfig, place: DomainPlace): Json => {
  const { defaults } = context.input.config
  const primary = place.primary?.machine.os
  return object({
    fqdn: place.fqdn,
    dns: place.primary === undefined ? undefined : [place.primary.address],
    organizational_unit: machine.template.includes("server") ? "Servers" : "Workstations",
    admin_user: defaults.domainAdmin,
    admin_password: defaults.domainAdminPassword,
    search: [place.fqdn, searchDomain],
    autologon: machine.os.kind === "windows" ? autologon(context, machine.os, place) : undefined,
    // policies of the domain apply only after another restart
    restart_for_policies: primary?.kind === "windows" && primary.gpos.length > 0,
  })
}

/** What the input of roles is computed from. Without a machine, it is that of the router's roles. */
type RoleContext = Pick<StageContext, "placeOf"> & { readonly input: Described }

/** The input of a role: its name and the variables that it may rely on. */
export const role = (context: RoleContext, machine: MachineConfig | undefined, name: string): Json => ({
  role: name,
  ...roleVariables(context, machine),
})

/** Variables that the roles of a machine may rely on, as far as they are known before anything runs. */
export const roleVariables = (context: RoleContext, machine: MachineConfig | undefined): { readonly [key: string]: Json } => {
  const { config, range } = context.input
  const place = machine === undefined ? undefined : context.placeOf(machine)
  return object({
    range_id: range.id,
    range_second_octet: range.number,
    ludus_dns_server: machine === undefined ? undefined : routerLeg(context, machine),
    ludus_domain_fqdn: place?.fqdn,
    ludus_domain_netbios_name: place?.fqdn.split(".")[0],
    ludus_domain_fqdn_tail: place?.fqdn.split(".").slice(1).join("."),
    ludus_dc_vm_name: place?.primary?.name,
    ludus_dc_hostname: place?.primary?.hostname,
    ludus_dc_ip: place?.primary?.address,
    vars: { ...config.globalRoleVars, ...(machine === undefined ? config.router.roleVars : machine.roleVars) },
  })
}

export const router = (context: StageContext, hostname: string): Json => {
  const { config, range } = context.input
  const vlans = context.legs.toSorted((a, b) => a - b)
  return object({
    interface: 0,
    address: `${wanAddress(range.number)}/24`,
    gateway: natHost,
    dns: [natHost],
    hostname,
    ...ownLogin,
    // the stage finds the network card by its tag, whatever its index
    legs: vlans.map((vlan) => ({ vlan, address: `${gatewayAddress(range.number, vlan)}/24` })),
    outbound_vpn:
      config.router.outboundWireguard === undefined
        ? undefined
        : { secret_config: config.router.outboundWireguard.config, vlans: config.router.outboundWireguard.vlans },
    inbound_vpn:
      config.router.inboundWireguard?.enabled === true
        ? {
            network: config.router.inboundWireguard.serverCidr,
            port: config.router.inboundWireguard.port,
            vlans: config.router.inboundWireguard.allowedVlans,
          }
        : undefined,
  })
}

/** A placeholder for the router's outer interface in the rules; only the guest knows its name. */
const outerInterface = "outside"

export const firewall = (context: StageContext): Json => {
  const { config, range, grants, settings } = context.input
  const users = new Map(grants.map((g) => [g.userId, g.userNumber]))
  const filter: FirewallInput = {
    rangeNumber: range.number,
    network: config.network,
    grants: [...users].map(([userId, userNumber]) => ({ userId, userNumber })).sort((a, b) => a.userNumber - b.userNumber),
    hostAddresses: settings.protectedAddresses,
    testing: testingFirewall(context),
    hasTunnel: config.router.outboundWireguard !== undefined,
  }
  return object({
    interface: 0,
    placeholder: outerInterface,
    rules: renderIptablesRestore(packetFilter(filter), outerInterface),
    guard: renderGuard(filter),
    commands: config.router.iptablesCommands,
  })
}

/** Numbers of the users that a router with this input of `firewall` lets in, ascending. */
export const letIn = (input: Json): readonly number[] => {
  const rules = typeof input === "object" && input !== null && "rules" in input ? input["rules"] : undefined
  if (typeof rules !== "string") return []
  const numbers = rules.split("\n").flatMap((line) => {
    if (!line.includes(`"${grantComment}`)) return []
    const [, address = "", octet] = /-s ((?:\d+\.){3}(\d+))/u.exec(line) ?? []
    return vpnAddress(Number(octet)) === address ? [Number(octet)] : []
  })
  return [...new Set(numbers)].sort((a, b) => a - b)
}

const allowedDomains = ({ input }: StageContext): readonly AllowedDomain[] => {
  const all = input.range.testing.allowedDomains.flatMap((entry) => allowedDomain(entry) ?? [])
  return [...new Map(all.map((each) => [each.name, each])).values()]
}

const testingFirewall = (context: StageContext): TestingFirewall | undefined => {
  const { config, range } = context.input
  if (!isClosed(range.testing)) return undefined
  const domains = allowedDomains(context)
  const macsOf = hardwareAddresses(range, context.input.world)
  return {
    exempt: config.machines
      .filter((m) => !m.testing.blockInternet)
      .map((m) => ({ address: addressOf(context, m), macs: macsOf(m) })),
    allowed: [...new Set([...range.testing.allowedIps, ...domains.flatMap(({ address }) => address ?? [])])].filter(
      (text) => parseCidr(text) !== undefined,
    ),
    names: domains.map(({ name }) => name),
  }
}

/**
 * The MAC addresses of a machine in its VLAN, in the spelling of routers; for one that is still to be created, the one that it will have. A
 * machine without any gets no exemption.
 */
export const hardwareAddresses = (
  { id: rangeId }: { readonly id: RangeId },
  world: PlanWorld,
): ((machine: Pick<MachineConfig, "name" | "vlan">) => readonly string[]) => {
  const { own } = identify(rangeId, world)
  return ({ name, vlan }) => {
    const called = renderName(name, { rangeId })
    const there = own.get(called)
    const reserved = world.reservations.get(called)
    const planned = reserved === undefined ? [] : [macOf(reserved, 0)]
    const macs = there === undefined ? planned : there.detail.nics.flatMap((nic) => (nic.tag === vlan ? [nic.mac] : []))
    return macs.map((mac) => mac.toLowerCase()).filter((mac) => /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/u.test(mac))
  }
}

/** The range's DNS records; in testing mode also how its name service resolves allowed names of the outside, and no others. */
export const dns = (context: StageContext): Json => {
  const { config, range } = context.input
  const { records } = dnsNames(config, { rangeId: range.id, rangeNumber: range.number })
  const closed = closedNames(range.number, context.legs, allowedDomains(context))
  return object({
    records: records.map(({ name, address }) => ({ name, address })),
    closed: isClosed(range.testing) ? closed : undefined,
  })
}
