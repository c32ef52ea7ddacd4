import { addressNumber, type Cidr, isAmong, mayConnect, parseCidr, plainAddress } from "@rangewright/domain"
import { lookup, Resolver } from "node:dns/promises"
import { networkInterfaces } from "node:os"

/** A server that may be connected to even though its address is not public. */
export interface NamedServer {
  /** As tools spell it, in lower case; an IPv6 address without brackets. */
  readonly host: string
  readonly port: number
  /** The only addresses that count as this server; when absent, those the host's resolver returns for the name. */
  readonly addresses?: readonly string[]
}

/** What one run of a tool may connect to. Everything else is refused, however it is named or spelled. */
export interface Reach {
  /** Networks of the run's range. */
  readonly networks: readonly Cidr[]
  /** The only ports allowed there; all when absent. */
  readonly ports?: readonly number[]
  readonly servers: readonly NamedServer[]
  /** Whether public addresses are allowed, except those that are never allowed. */
  readonly internet: boolean
}

/** A run that needs no network. */
export const nowhere: Reach = { networks: [], servers: [], internet: false }

/** Resolves a name to its addresses; empty when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** How the host resolves names for a run, and which addresses it never allows. */
export interface Surroundings {
  /** Addresses and networks of the service's host and the hypervisor: they may be public, or inside a range's network. */
  readonly never: () => Promise<readonly string[]>
  /** For names that tools ask for. */
  readonly resolve: Resolve
  /** For servers named by the operator. */
  readonly resolveNamed: Resolve
}

/** The addresses that may be connected to, in order of preference, or why none may, worded for the author of the tool's input. */
export type Permission = { readonly addresses: readonly string[] } | { readonly because: string }

/**
 * Asks the host's name servers, IPv4 first. Not with the host's resolver library: a few slow names there would block the service's other
 * file operations.
 */
export const resolvePublic: Resolve = async (host) => {
  // a resolver keeps the name servers that the host had when it was made
  const resolver = new Resolver({ timeout: 3000, tries: 2 })
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
}

/** Uses the host's resolver: for servers named by the operator. */
export const resolveNamed: Resolve = async (host) => {
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}

/** Every address of this host. */
export const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address))

/**
 * Tells the addresses of this host, and those that no tool may connect to besides, however they are spelled. `never` names single addresses
 * and networks.
 */
export const keptAddresses = async (never: () => Promise<readonly string[]>): Promise<(address: string) => boolean> => {
  const kept = [...ownAddresses(), ...(await never())]
  return (address) => isAmong(address, kept)
}

/** Whether the text is a network around all of the other one, such as `10.0.0.0/8` around that of a range. */
const isAround = (text: string, { first, last }: Cidr): boolean => {
  const around = text.includes("/") ? parseCidr(text) : undefined
  return around !== undefined && around.first <= first && last <= around.last
}

const isIn = (networks: readonly Cidr[], address: string): boolean => {
  const number = addressNumber(address)
  return number !== undefined && networks.some(({ first, last }) => first <= number && number <= last)
}

/** Decides about one connection that a tool asks for. Connects to nothing. */
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
  // resolving a name already reveals something to whoever answers for it
  if (server === undefined && literal === undefined && !reach.internet) return refused("this run may not use the internet")
  const found = server === undefined ? await addressesBy(resolve) : (server.addresses ?? (await addressesBy(resolveNamed)))
  if (found.length === 0) return refused("its name cannot be resolved")
  if (server !== undefined) return { addresses: found }
  const closed = await never()
  /** A network around all of the run's own closes what is beside that: it would be of no use to close every range to every tool. */
  const isKept = (address: string): boolean => {
    const own = reach.networks.filter((network) => isIn([network], address))
    return isAmong(
      address,
      closed.filter((text) => !own.some((network) => isAround(text, network))),
    )
  }
  // one wrong address is enough: whoever answers for the name could order the addresses at will
  if (found.some(isKept)) return refused("it belongs to the service or the hypervisor")
  if (found.every((address) => isIn(reach.networks, address)))
    return reach.ports?.includes(port) === false
      ? refused(`only the ports ${reach.ports.join(", ")} of machines may be reached`)
      : { addresses: found }
  if (!found.every((address) => mayConnect(address, []))) return refused("it is neither in this range nor public")
  return reach.internet ? { addresses: found } : refused("this run may not use the internet")
}
