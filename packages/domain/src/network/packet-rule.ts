/** Rules of the router's packet filter as data. */
import type { FirewallAction, PortRange, Protocol } from "../range/config/model.ts"

export type UserChain = "LUDUS_DEFAULTS" | "LUDUS_TESTING" | "LUDUS_USER_RULES"
/** Users' own firewall commands name these chains, so the names are fixed. */
export const userChains: ReadonlyArray<UserChain> = ["LUDUS_DEFAULTS", "LUDUS_TESTING", "LUDUS_USER_RULES"]
export type Chain = "INPUT" | "FORWARD" | UserChain

/** Addresses that a packet may come from or go to: a network or all outside it, or a range with both ends. */
export type AddressMatch =
  | { readonly network: string; readonly outside?: boolean | undefined }
  | { readonly first: string; readonly last: string }

/** A rule matches a packet when everything that it names does. */
export interface PacketRule {
  readonly chain: Chain
  readonly source?: AddressMatch | undefined
  readonly destination?: AddressMatch | undefined
  /** The packet came in through the router's outside interface. */
  readonly fromOutside?: boolean | undefined
  /** The packet belongs to a connection that was let through before. */
  readonly established?: boolean | undefined
  /** The packet is the first that is seen of a TCP connection, and begins none: the connection is older than the rules. */
  readonly midway?: boolean | undefined
  /** The guard knows its destination as an address of a domain that is allowed. */
  readonly passedGuard?: boolean | undefined
  readonly protocol?: Protocol | undefined
  readonly ports?: PortRange | undefined
  /** What happens to the packet, or the chain that decides. */
  readonly action: FirewallAction | UserChain
  readonly comment?: string | undefined
}

/** The filter of one router: in each chain the first rule that matches decides, and the policy where none does. */
export interface PacketFilter {
  readonly policies: { readonly INPUT: "ACCEPT"; readonly FORWARD: "DROP"; readonly OUTPUT: "ACCEPT" }
  readonly rules: ReadonlyArray<PacketRule>
}
