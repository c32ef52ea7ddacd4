import { type Dial, dialDirectly, keptAddresses } from "@rangewright/host-tools"
import { type AddressNetwork, isMeant, mayConnect } from "@rangewright/domain"

/** How the internet is accessed. Everything has a safe default. */
export interface InternetOptions {
  /** Whether servers may be connected to. Names are always resolved. */
  readonly internet?: boolean
  /** Networks that may be connected to although they are not public, and without the internet. */
  readonly networks?: readonly AddressNetwork[]
  /** Addresses that are never returned or connected to, besides this host's own. */
  readonly never?: () => Promise<readonly string[]>
  /** Resolves a name to its IPv4 addresses; rejects as `node:dns` does. The host's name servers when absent. */
  readonly resolve4?: (name: string, signal: AbortSignal) => Promise<readonly string[]>
  readonly dial?: Dial
  /** CA certificates, PEM, that replace the default ones. */
  readonly ca?: string
  /** Time limit for one name, and for one server's whole answer. */
  readonly timeoutMillis?: number
}

/** Returns those IPv4 addresses that are public or in an allowed network, and not excluded. */
export const usable = async (
  addresses: readonly string[],
  { never, networks = [] }: InternetOptions,
): Promise<readonly string[]> => {
  const isKept = await keptAddresses(async () => (await never?.()) ?? [])
  return addresses.filter(
    (address) => !address.includes(":") && mayConnect(address, networks) && (!isKept(address) || isMeant(address, networks)),
  )
}

/** How long a server may pause within a file. */
export const idleMillis = (options: InternetOptions): number => 12 * timeoutOf(options)
export const timeoutOf = ({ timeoutMillis = 5000 }: InternetOptions): number => timeoutMillis
export const dialOf = ({ dial = dialDirectly }: InternetOptions): Dial => dial
