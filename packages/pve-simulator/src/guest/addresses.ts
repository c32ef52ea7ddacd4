import { nicsOf, type Nic } from "../core/guest-config.ts"
import type { Guest } from "../core/state.ts"
import type { World } from "../core/world.ts"
import type { BackedGuest } from "./backing.ts"
import { routerLeg } from "./router.ts"

/** A network with DHCP: its first three octets, and the last octets of its leases. */
interface LeaseNetwork {
  readonly prefix: string
  readonly first: number
  readonly last: number
}

/** The networks of a lab: range N is bridge vmbr(1000+N) or VNet rN, VLAN V is 10.N.V.0/24; the NAT bridge is 192.0.2.0/24. */
const networkOf = (nic: Nic): LeaseNetwork | undefined => {
  const bridge = nic.bridge ?? ""
  if (bridge === "vmbr1000" || bridge === "ludusnat") return { prefix: "192.0.2", first: 50, last: 100 }
  const range = /^vmbr1(\d{3})$/.exec(bridge)?.[1] ?? /^r(\d+)$/.exec(bridge)?.[1]
  if (range !== undefined) {
    // untagged traffic of a range's bridge reaches no DHCP server
    return nic.tag === undefined ? undefined : { prefix: `10.${Number(range)}.${nic.tag}`, first: 100, last: 253 }
  }
  return bridge === "" ? undefined : { prefix: "10.0.0", first: 100, last: 253 }
}

/** The leased address of a network device, from its network's pool; undefined if there is no DHCP server or the pool is exhausted. */
const leaseFor = (world: World, nic: Nic): string | undefined => {
  const network = networkOf(nic)
  if (network === undefined) return undefined
  const leases = world.state.leases.get(network.prefix) ?? new Map<string, number>()
  world.state.leases.set(network.prefix, leases)
  let host = leases.get(nic.mac)
  if (host === undefined) {
    const taken = new Set(leases.values())
    for (let n = network.first; n <= network.last && host === undefined; n += 1) if (!taken.has(n)) host = n
    if (host === undefined) return undefined
    leases.set(nic.mac, host)
  }
  return `${network.prefix}.${host}`
}

/** Removes a deleted guest's leases, and tells its backing. */
export const releaseGuest = (world: World, guest: Guest): void => {
  for (const nic of nicsOf(guest.config)) {
    const network = networkOf(nic)
    if (network !== undefined) world.state.leases.get(network.prefix)?.delete(nic.mac)
  }
  world.backing?.gone(guest.vmid)
}

/** An IPv4 address of a network device. */
export interface GuestAddress {
  readonly nic: Nic
  readonly address: string
  readonly prefix: number
}

/** The IPv4 addresses a guest has now: static ones at once, leases a little after its agent came up. */
export const addressesOf = (world: World, guest: Guest): GuestAddress[] => {
  const { os, boot } = guest
  if (os === undefined || boot.kind !== "up") return []
  const leaseAfter = os.family === "windows" ? world.timing.dhcpWindows : world.timing.dhcpLinux
  if (world.backing !== undefined && os.family === "linux") {
    const backed = world.backing.addresses(guest.vmid) ?? []
    return nicsOf(guest.config).flatMap((nic) =>
      backed
        .filter(({ mac }) => mac === nic.mac.toLowerCase())
        .map(({ address, prefix }): GuestAddress => ({ nic, address, prefix })),
    )
  }
  const hasLease = world.clock.now() >= boot.since + leaseAfter
  const out: GuestAddress[] = []
  for (const nic of nicsOf(guest.config)) {
    const fixed = os.addresses[String(nic.index)] ?? routerLeg(os, nic)
    if (fixed !== undefined) {
      out.push({ nic, address: fixed.address, prefix: fixed.prefix })
      continue
    }
    const address = hasLease ? leaseFor(world, nic) : undefined
    if (address !== undefined) out.push({ nic, address, prefix: 24 })
  }
  return out
}

/** A guest in the form that its backing gets. */
export const backedGuest = (guest: Guest): BackedGuest => ({
  vmid: guest.vmid,
  name: guest.os?.hostname ?? "guest",
  ...(guest.os?.accounts === undefined ? {} : { accounts: guest.os.accounts }),
  nics: nicsOf(guest.config).map(({ mac, bridge, tag }) => ({ mac: mac.toLowerCase(), bridge, tag })),
})
