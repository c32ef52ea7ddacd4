import { isAmong } from "../content/destination.ts"
import { natNetwork, vpnNetwork } from "../network/addressing.ts"
import { addressNumber, type Cidr, parseCidr } from "../network/cidr.ts"
import type { TestingState } from "./range.ts"

/** The most entries of one kind that a range may have at once, and that a request may name. */
export const allowedAtMost = 1000
export const namedAtOnce = 200

const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)

const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/u

/** A name as it is stored: in lower case, without a trailing dot. */
export const domainName = (text: string): string => text.toLowerCase().replace(/\.$/u, "")

/** Why this is not the name of a host on the internet; undefined: it is. `name` comes from `domainName`. */
export const domainProblem = (name: string): string | undefined => {
  const labels = name.split(".")
  if (addressNumber(name) !== undefined || /^[0-9.]+$/u.test(name))
    return `${shown(name)} is an address, not a name: put it under ips`
  if (/[^\u0020-\u007e]/u.test(name)) return `${shown(name)} has characters that DNS does not allow: use its ASCII form (xn--…)`
  if (name.includes("*")) return `${shown(name)} has a wildcard: name each host`
  if (name.length > 253) return `the name ${shown(name)} is longer than 253 characters`
  if (labels.length < 2 || !labels.every((part) => label.test(part))) return `${shown(name)} is not a full host name`
  const top = labels.at(-1) ?? ""
  if (/^\d+$/u.test(top) || ["localhost", "local", "internal", "invalid", "arpa"].includes(top))
    return `${shown(name)} is not an internet host name`
  return undefined
}

/** Networks that no rule may open: those of ranges and of the installation, and addresses that are not a single host. */
const closedNetworks: readonly (readonly [Cidr, string])[] = [
  [natNetwork, "in the installation's own network"],
  [vpnNetwork, "in the network of the VPN"],
  ...(
    [
      ["10.0.0.0/8", "in the network of ranges"],
      ["0.0.0.0/8", "not the address of a host"],
      ["127.0.0.0/8", "a loopback address"],
      ["169.254.0.0/16", "a link-local address"],
      ["224.0.0.0/3", "not the address of a host"],
    ] as const
  ).flatMap(([text, what]) => {
    const network = parseCidr(text)
    return network === undefined ? [] : [[network, what] as const]
  }),
]

/** Why testing mode may not allow this address; undefined: it may. */
export const allowedAddressProblem = (text: string, protectedAddresses: readonly string[]): string | undefined => {
  const number = addressNumber(text)
  if (number === undefined) return `${shown(text)} is not an IPv4 address: write four numbers with dots, not a network or a name`
  const closed = closedNetworks.find(([{ first, last }]) => number >= first && number <= last)
  if (closed !== undefined) return `${text} is ${closed[1]}`
  return isAmong(text, protectedAddresses) ? `${text} belongs to the hypervisor` : undefined
}

/** Why testing mode may not allow one of these entries any more, as they are stored; undefined: it may allow them all. */
export const allowedEntriesProblem = (
  { domains, ips }: { readonly domains: readonly string[]; readonly ips: readonly string[] },
  protectedAddresses: readonly string[],
): string | undefined => {
  // entries of an older service may have no address
  const found = domains.flatMap((entry) => {
    const address = / \(([^)]*)\)$/u.exec(entry)?.[1]
    const problem = address === undefined ? undefined : allowedAddressProblem(address, protectedAddresses)
    return problem === undefined ? [] : [`${nameIn(entry)} cannot be allowed: ${problem}`]
  })
  return found[0] ?? ips.map((address) => allowedAddressProblem(address, protectedAddresses)).find((one) => one !== undefined)
}

/** An allowed domain as it is stored. */
export const domainEntry = (name: string, address: string): string => `${name} (${address})`

/** The name in an entry. Entries of an older service may have no address. */
const nameIn = (entry: string): string => domainName(entry.replace(/ \([^)]*\)$/u, ""))

/** The entries for exactly this domain: not those for one above or below it. */
export const entriesOf = ({ allowedDomains }: Pick<TestingState, "allowedDomains">, name: string): readonly string[] =>
  allowedDomains.filter((entry) => nameIn(entry) === name)
