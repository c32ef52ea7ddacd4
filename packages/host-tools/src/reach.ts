import { addressNumber, type Cidr, mayConnect, plainAddress } from "@rangewright/domain"
import { lookup, Resolver } from "node:dns/promises"
import { networkInterfaces } from "node:os"

/** A server that may be connected to although its address is not public. */
export interface NamedServer {
  /** As tools spell it, in lower case; an IPv6 address without brackets. */
  readonly host: string
  readonly port: number
  /** The only addresses that count as this server; what the host's resolver says of the name where absent. */
  readonly addresses?: readonly string[]
}

/** What one run of a tool may connect to. Everything else is refused, whatever name or spelling it goes by. */
export interface Reach {
  /** Networks of the run's own range. */
  readonly networks: readonly Cidr[]
  /** The only ports that count there; all where absent. */
  readonly ports?: readonly number[]
  readonly servers: readonly NamedServer[]
  /** Public addresses, but those that are never reached. */
  readonly internet: boolean
}

/** A run that needs no network. */
export const nowhere: Reach = { networks: [], servers: [], internet: false }

/** The addresses of a name; none where it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** What the host's name servers and its routes make of a run's reach. */
export interface Surroundings {
  /** Addresses of the service's host and the hypervisor: they may be public, or lie inside a range's network. */
  readonly never: () => Promise<readonly string[]>
  /** Of names that tools ask for. */
  readonly resolve: Resolve
  /** Of servers that the operator named. */
  readonly resolveNamed: Resolve
}

/** The addresses that may be connected to, in this order; or why there is none, in words for who wrote the tool's input. */
export type Permission = { readonly addresses: readonly string[] } | { readonly because: string }

// not the host's resolver library: a few slow names there would hold up whatever else the service does with files
const resolver = new Resolver({ timeout: 3000, tries: 2 })

/** Asks the host's name servers, IPv4 first. */
export const resolvePublic: Resolve = async (host) => {
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
}

/** Asks whatever the host asks: for servers that the operator named. */
export const resolveNamed: Resolve = async (host) => {
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}

/** Every address that this host has itself. */
export const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address))

const isIn = (networks: readonly Cidr[], address: string): boolean => {
  const number = addressNumber(address)
  return number !== undefined && networks.some(({ first, last }) => first <= number && number <= last)
}

/** Decides about one connection that a tool asks for. Nothing is connected to. */
export const permission = async (
  reach: Reach,
  { never, resolve, resolveNamed }: Surroundings,
  asked: string,
  port: number,
): Promise<Permission> => {
  const refused = (because: string): Permission => ({ because: `${asked}:${port} may not be reached from here: ${because}` })
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return refused("there is no such port")
  const literal = plainAddress(asked)
  const host = literal ?? asked.toLowerCase()
  const addressesBy = (find: Resolve) => (literal === undefined ? find(host) : [literal])
  const server = reach.servers.find((one) => (plainAddress(one.host) ?? one.host) === host && one.port === port)
  // a name that is asked for tells whoever answers for it something, too
  if (server === undefined && literal === undefined && !reach.internet) return refused("this run may not use the internet")
  const found = server === undefined ? await addressesBy(resolve) : (server.addresses ?? (await addressesBy(resolveNamed)))
  if (found.length === 0) return refused("its name cannot be resolved")
  if (server !== undefined) return { addresses: found }
  const kept = new Set((await never()).map(plainAddress))
  // one wrong address is enough: whoever answers for the name could order them as he likes
  if (found.some((address) => kept.has(plainAddress(address)))) return refused("it belongs to the service or the hypervisor")
  if (found.every((address) => isIn(reach.networks, address)))
    return reach.ports?.includes(port) === false
      ? refused(`only the ports ${reach.ports.join(", ")} of machines may be reached`)
      : { addresses: found }
  if (!found.every((address) => mayConnect(address, []))) return refused("it is neither in this range nor public")
  return reach.internet ? { addresses: found } : refused("this run may not use the internet")
}
