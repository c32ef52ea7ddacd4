import { type Dial, dialDirectly, ownAddresses } from "@rangewright/host-tools"
import { mayConnect, plainAddress } from "@rangewright/domain"

/** How the internet is asked. Everything has a safe default. */
export interface InternetOptions {
  /** Whether servers may be connected to. Names are resolved in any case. */
  readonly internet?: boolean
  /** Addresses that are never given and never connected to, beside all that this host has itself. */
  readonly never?: () => Promise<readonly string[]>
  /** The IPv4 addresses of a name; rejects as `node:dns` does. The host's name servers where absent. */
  readonly resolve4?: (name: string, signal: AbortSignal) => Promise<readonly string[]>
  readonly dial?: Dial
  /** Certificates of authorities, PEM, in place of those that are known everywhere. */
  readonly ca?: string
  /** For one name, and for one server with all that it sends. */
  readonly timeoutMillis?: number
}

/** Keeps of these addresses the IPv4 ones that anybody may connect to. */
export const usable = async (addresses: readonly string[], { never }: InternetOptions): Promise<readonly string[]> => {
  const kept = new Set([...ownAddresses(), ...((await never?.()) ?? [])].map(plainAddress))
  return addresses.filter((address) => !address.includes(":") && mayConnect(address, []) && !kept.has(plainAddress(address)))
}

/** How long a server may send nothing of a file that it has begun. */
export const idleMillis = (options: InternetOptions): number => 12 * timeoutOf(options)
export const timeoutOf = ({ timeoutMillis = 5000 }: InternetOptions): number => timeoutMillis
export const dialOf = ({ dial = dialDirectly }: InternetOptions): Dial => dial
