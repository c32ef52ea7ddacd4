import { userNumberSpan, vpnAddress, type VpnPair, vpnServer } from "@rangewright/domain"

export const tableOf = (name: string): string => `rangewright_${name}`

const users = `${vpnAddress(userNumberSpan.from)}-${vpnAddress(userNumberSpan.to)}`

/**
 * The rules of an interface, as one change: what went on between a client and a network that are no pair any more ends with it, and no other packet is lost.
 * They judge only packets with the address of a user: everything else on the host is somebody else's. They are asked anew for each packet: no
 * connection is let through because it was let through before.
 */
export const rulesOf = (name: string, pairs: readonly VpnPair[]): string => {
  const table = `table inet ${tableOf(name)}`
  const elements = pairs.map(({ client, network }) => `${client} . ${network}`)
  return `${table}
delete ${table}
${table} {
  set may {
    type ipv4_addr . ipv4_addr
    flags interval
${elements.length === 0 ? "" : `    elements = { ${elements.join(",\n      ")} }\n`}  }
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

const elements = /elements = \{([^}]*)\}/u

/** What `nft list table` printed: its pairs, and the rest, by which it is known again. What is no pair is kept as it is, so that it differs from all. */
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
