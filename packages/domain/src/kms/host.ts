import { isAmong } from "../content/destination.ts"

/** The address of the server that activates machines. */
export interface KmsHost {
  /** A DNS name or an IPv4 address. */
  readonly host: string
  readonly port: number
}

export const kmsPort = 1688

const hostName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/iu
const dotted = /^\d{1,3}(?:\.\d{1,3}){3}$/u

/** Addresses at which machines of ranges cannot reach a KMS host: unspecified, loopback, link-local, multicast and reserved. */
const nobodyThere = (octets: readonly number[]): boolean => {
  const [first = 0, second = 0] = octets
  return first === 0 || first === 127 || first >= 224 || (first === 169 && second === 254)
}

const hostProblem = (host: string): string | undefined => {
  if (dotted.test(host)) {
    const octets = host.split(".").map(Number)
    if (octets.some((octet) => octet > 255)) return `${host} is not an IPv4 address`
    return nobodyThere(octets) ? `machines of ranges cannot reach a KMS host at ${host}` : undefined
  }
  if (!hostName.test(host) || /^[\d.]+$/u.test(host)) return "a host name or an IPv4 address is required"
  return /(?:^|\.)localhost$/iu.test(host) ? "machines of ranges cannot reach a KMS host at localhost" : undefined
}

/**
 * Parses `kms.example.org`, `192.0.2.7` or either with a port such as `:1688`. `closed`: addresses that machines of ranges must not reach.
 */
export const readKmsHost = (
  text: string,
  closed: readonly string[] = [],
): { readonly value: KmsHost } | { readonly problem: string } => {
  const [, host = "", port = String(kmsPort)] = /^([^:]*)(?::(\d{1,5}))?$/u.exec(text) ?? []
  const number = Number(port)
  const problem = hostProblem(host) ?? (number < 1 || number > 65_535 ? "the port must be from 1 to 65535" : undefined)
  if (problem !== undefined) return { problem }
  if (closed.includes(host) || isAmong(host, closed))
    return { problem: `machines of ranges must not reach ${host} (protected_addresses)` }
  return { value: { host: host.toLowerCase(), port: number } }
}
