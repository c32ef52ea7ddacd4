import { userNumberSpan, vpnAddress, type VpnPair, vpnServer } from "@rangewright/domain"

export const tableOf = (name: string): string => `rangewright_${name}`

const users = `${vpnAddress(userNumberSpan.from)}-${vpnAddress(userNumberSpan.to)}`

const elementOf = ({ client, network }: VpnPair): string => `${client} . ${network}`
const listOf = (pairs: readonly VpnPair[]): string => `{ ${pairs.map(elementOf).join(",\n      ")} }`

/**
 * The rules of an interface, replacing the present ones: connections between a client and a network that are no longer a pair end with
 * that. For some microseconds Linux finds no pair in a new set, and drops packets, so when the rules are already right, `changesOf` changes
 * only the pairs. The rules apply only to packets with a user's address; everything else on the host is left alone. They are evaluated for
 * each packet: a connection is not let through because it was before.
 */
export const rulesOf = (name: string, pairs: readonly VpnPair[]): string => {
  const table = `table inet ${tableOf(name)}`
  return `${table}
delete ${table}
${table} {
  set may {
    type ipv4_addr . ipv4_addr
    flags interval
${pairs.length === 0 ? "" : `    elements = ${listOf(pairs)}\n`}  }
  chain from_users {
    ip saddr . ip daddr @may accept
    drop
  }
  chain to_users {
    ip daddr . ip saddr @may accept
    ct state related meta l4proto icmp accept
    drop
  }
  chain forward {
    type filter hook forward priority filter; policy accept;
    iifname != "${name}" ip saddr ${users} drop
    iifname "${name}" ip saddr ${users} goto from_users
    oifname "${name}" ip daddr ${users} goto to_users
  }
  chain input {
    type filter hook input priority filter; policy accept;
    iifname != "${name}" ip saddr ${users} drop
    iifname "${name}" ip saddr ${users} ip daddr != ${vpnServer} drop
  }
}
`
}

/** Changes the present pairs into others. Unchanged pairs are not touched, so that no packet arrives while they are missing. */
export const changesOf = (name: string, from: readonly VpnPair[], to: readonly VpnPair[]): string => {
  const without = (all: readonly VpnPair[], others: readonly VpnPair[]): readonly VpnPair[] => {
    const keys = new Set(others.map(elementOf))
    return all.filter((pair) => !keys.has(elementOf(pair)))
  }
  const change = (verb: string, pairs: readonly VpnPair[]): string =>
    pairs.length === 0 ? "" : `${verb} element inet ${tableOf(name)} may ${listOf(pairs)}\n`
  return change("delete", without(from, to)) + change("add", without(to, from))
}

const elements = /^[ \t]*elements = \{([^}]*)\}\n?/mu

/**
 * Parses the output of `nft list table` into its pairs and the remaining rules, which are compared as text. Anything that is not a pair
 * stays in the rules, so that they differ from ours.
 */
export const parseRules = (listed: string): { readonly pairs: readonly VpnPair[]; readonly rules: string } => {
  const [, inside = ""] = elements.exec(listed) ?? []
  const texts = inside.split(",").flatMap((text) => (text.trim() === "" ? [] : [text.trim()]))
  return {
    pairs: texts.map((text) => {
      const [client = "", network = "", ...more] = text.split(" . ")
      return more.length === 0 ? { client, network } : { client: text, network: "" }
    }),
    rules: listed.replace(elements, ""),
  }
}
