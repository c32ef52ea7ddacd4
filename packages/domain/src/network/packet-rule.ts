/** Rules of the router's packet filter as data. */
import type { FirewallAction, PortRange, Protocol } from "../range/config/model.ts"

export type UserChain = "LUDUS_DEFAULTS" | "LUDUS_TESTING" | "LUDUS_USER_RULES"
/** Users' own firewall commands name these chains, so the names are fixed. */
export const userChains: ReadonlyArray<UserChain> = ["LUDUS_DEFAULTS", "LUDUS_TESTING", "LUDUS_USER_RULES"]
export type Chain = "INPUT" | "FORWARD" | UserChain

/** Matches source or destination addresses: a network or everything outside it, or an inclusive address range. */
export type AddressMatch =
  | { readonly network: string; readonly outside?: boolean | undefined }
  | { readonly first: string; readonly last: string }

/** A rule matches a packet when all given fields match. */
export interface PacketRule {
  readonly chain: Chain
  readonly source?: AddressMatch | undefined
  readonly destination?: AddressMatch | undefined
  /** The packet came in through the router's outside interface. */
  readonly fromOutside?: boolean | undefined
  /** The packet belongs to a connection that was accepted before. */
  readonly established?: boolean | undefined
  /** The packet is the first one seen of a TCP connection but does not open it: the connection is older than the rules. */
  readonly midway?: boolean | undefined
  /** The guard recognizes its destination as an address of an allowed domain. */
  readonly passedGuard?: boolean | undefined
  readonly protocol?: Protocol | undefined
  readonly ports?: PortRange | undefined
  /** The verdict, or the chain that decides. */
  readonly action: FirewallAction | UserChain
  readonly comment?: string | undefined
}

/** The filter of a router: in each chain the first matching rule decides, else the policy. */
export interface PacketFilter {
  readonly policies: { readonly INPUT: "ACCEPT"; readonly FORWARD: "DROP"; readonly OUTPUT: "ACCEPT" }
  readonly rules: ReadonlyArray<PacketRule>
}
