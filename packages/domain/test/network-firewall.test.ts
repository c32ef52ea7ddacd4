import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type FirewallInput, packetFilter, type PacketRule, renderIptablesRestore } from "../src/network/index.ts"
import type { Endpoint, NetworkConfig } from "../src/range/config/index.ts"
import { networkFile } from "./range-config-arbitrary.ts"
import { accepted } from "./range-config-text.ts"
import { type Packet, verdictOn, type Verdict } from "./network-packet.ts"

const networkOf = (network: object): NetworkConfig => accepted({ ludus: [], network }).config.network
const input = (network: object, more: Partial<FirewallInput> = {}): FirewallInput => ({
  rangeNumber: 7,
  network: networkOf(network),
  grants: [],
  hostAddresses: ["203.0.113.9"],
  ...more,
})
const rule = (more: object): object => ({
  name: "r",
  vlan_src: 10,
  vlan_dst: 20,
  protocol: "all",
  ports: "all",
  action: "ACCEPT",
  ...more,
})
const forward = (from: FirewallInput, packet: Partial<Packet>): Verdict =>
  verdictOn(packetFilter(from), "FORWARD", {
    source: "10.7.10.5",
    destination: "10.7.20.5",
    protocol: "tcp",
    port: 80,
    ...packet,
  })
const chain = (from: FirewallInput, name: string): ReadonlyArray<PacketRule> =>
  packetFilter(from).rules.filter((each) => each.chain === name)

/** What the configuration says of a packet that leaves a VLAN of the range, read straight from it: the last rule that fits decides. */
const configured = (
  network: NetworkConfig,
  packet: { readonly source: Place; readonly destination: Place; readonly protocol: string; readonly port: number },
): Verdict => {
  const fits = network.rules.filter(
    (each) =>
      at(each.source, packet.source) &&
      at(each.destination, packet.destination) &&
      (each.protocol === "all" || each.protocol === packet.protocol) &&
      (each.ports === "all" || each.ports.some(({ first, last }) => packet.port >= first && packet.port <= last)),
  )
  const last = fits.at(-1)
  if (last !== undefined) return last.action
  if (packet.destination.zone === "wireguard") return network.wireguardDefault
  return packet.destination.zone === "public" ? network.externalDefault : network.interVlanDefault
}
interface Place {
  readonly zone: number | "public" | "wireguard"
  readonly octet: number
}
const at = ({ zone, octets }: Endpoint, place: Place): boolean => {
  const inZone =
    zone === "all" ? typeof place.zone === "number" : zone === "public" ? typeof place.zone === "string" : zone === place.zone
  return inZone && (octets === undefined || (place.octet >= octets.first && place.octet <= octets.last))
}
const addressOf = ({ zone, octet }: Place): string =>
  zone === "public" ? `93.184.216.${octet}` : zone === "wireguard" ? `198.51.100.${octet}` : `10.7.${zone}.${octet}`

describe("the filter does as the configuration says", () => {
  const place = (zones: ReadonlyArray<Place["zone"]>): fc.Arbitrary<Place> =>
    fc.record({ zone: fc.constantFrom(...zones), octet: fc.integer({ min: 2, max: 250 }) })
  const packet = fc.record({
    source: place([2, 3, 4, 5, 6]),
    destination: place([2, 3, 4, 5, 6, "public", "wireguard"]),
    protocol: fc.constantFrom("tcp", "udp", "icmp"),
    port: fc.integer({ min: 0, max: 65_535 }),
  })

  test("for every packet of a machine that no rule about the VPN concerns", () => {
    fc.assert(
      fc.property(networkFile, packet, (file, { source, destination, protocol, port }) => {
        const from = input(file)
        // The rules about the VPN are in a chain of their own, before all others; the next test has them.
        const rules = from.network.rules.filter(
          (each) =>
            (each.source.zone === "wireguard" || each.destination.zone === "wireguard") === (destination.zone === "wireguard"),
        )
        const expected = configured({ ...from.network, rules }, { source, destination, protocol, port })
        expect(forward(from, { source: addressOf(source), destination: addressOf(destination), protocol, port })).toBe(expected)
      }),
      { numRuns: 500 },
    )
  })

  test("rules about the VPN decide before the others", () => {
    const from = input({ rules: [rule({ vlan_dst: "wireguard" }), rule({ vlan_dst: "public", action: "DROP" })] })
    expect(forward(from, { destination: "198.51.100.5" })).toBe("ACCEPT")
    expect(forward(from, { destination: "93.184.216.34" })).toBe("DROP")
  })

  test("the last rule that matches wins", () => {
    const rules = [
      rule({ action: "REJECT" }),
      rule({ protocol: "tcp", ports: "80, 443" }),
      rule({ protocol: "tcp", ports: "443", action: "DROP" }),
    ]
    expect([80, 443, 22].map((port) => forward(input({ rules }), { port }))).toEqual(["ACCEPT", "DROP", "REJECT"])
  })
})

describe("whatever the configuration says", () => {
  const open = { inter_vlan_default: "ACCEPT", external_default: "ACCEPT", wireguard_vlan_default: "ACCEPT" }
  const everything = ["public", "all"].flatMap((from) => ["public", "all"].map((to) => rule({ vlan_src: from, vlan_dst: to })))

  test("the range reaches neither the host nor the VPN server", () => {
    for (const destination of ["192.0.2.254", "203.0.113.9", "198.51.100.1"])
      expect(forward(input({ ...open, rules: everything }), { destination })).toBe("REJECT")
  })

  test("the range does not log in to its router, but asks it for names", () => {
    const filter = packetFilter(input({ ...open, rules: everything }))
    const ask = (port: number): Verdict =>
      verdictOn(filter, "INPUT", { source: "10.7.10.5", destination: "10.7.10.254", protocol: "tcp", port })
    expect([ask(22), ask(53)]).toEqual(["REJECT", "ACCEPT"])
  })

  test("a blocked network stays blocked, the answers of its own machines included", () => {
    const from = input({ ...open, always_blocked_networks: ["192.168.1.0/24", "172.16.0.0/12"], rules: everything })
    for (const destination of ["192.168.1.7", "172.31.0.1"])
      expect(forward(from, { destination, established: true })).toBe("REJECT")
    expect(forward(from, { destination: "192.168.2.7" })).toBe("ACCEPT")
  })

  test("only those with a grant come in from the VPN, and the host for management", () => {
    const grants = [{ userId: "ada", userNumber: 3 }]
    const from = input({ ...open, rules: everything }, { grants })
    const enter = (source: string): Verdict => forward(from, { source, destination: "10.7.10.5", fromOutside: true })
    expect([enter("198.51.100.3"), enter("198.51.100.4"), enter("192.0.2.254"), enter("192.0.2.108")]).toEqual([
      "ACCEPT",
      "REJECT",
      "ACCEPT",
      "REJECT",
    ])
  })

  test("replies pass", () => {
    const closed = { inter_vlan_default: "DROP", external_default: "DROP" }
    expect(
      forward(input(closed), { source: "93.184.216.34", destination: "10.7.10.5", fromOutside: true, established: true }),
    ).toBe("ACCEPT")
  })
})

describe("testing mode", () => {
  const testing = { exempt: [{ address: "10.7.99.5", macs: ["02:00:00:00:01:00"] }], allowed: ["93.184.216.34"], names: [] }
  const from = input(
    { external_default: "ACCEPT", inter_vlan_default: "REJECT", rules: [rule({ vlan_src: 10, vlan_dst: 20 })] },
    { testing },
  )

  test("cuts the range off from the outside, but for exempt machines and allowed addresses", () => {
    expect(forward(from, { destination: "93.184.216.1" })).toBe("DROP")
    expect(forward(from, { destination: "93.184.216.34" })).toBe("ACCEPT")
    expect(forward(from, { source: "10.7.99.5", destination: "93.184.216.1" })).toBe("ACCEPT")
  })

  test("leaves the traffic between VLANs as it is", () => {
    expect(forward(from, {})).toBe("ACCEPT")
    expect(forward(from, { source: "10.7.20.5", destination: "10.7.10.5" })).toBe("REJECT")
    expect(forward(from, { source: "10.7.99.5", destination: "10.7.10.5" })).toBe("REJECT")
  })
})

test("rules are in their chains in this order", () => {
  const from = input(
    {
      always_blocked_networks: ["172.16.0.0/12", "192.168.0.0/16"],
      rules: [
        rule({ name: "one" }),
        rule({ name: "vpn one", vlan_dst: "wireguard" }),
        rule({ name: "two" }),
        rule({ name: "vpn two", vlan_src: "wireguard" }),
      ],
    },
    { grants: [{ userId: "ada", userNumber: 3 }] },
  )
  expect(chain(from, "FORWARD").map(({ action }) => action)).toEqual(["LUDUS_DEFAULTS", "LUDUS_TESTING", "LUDUS_USER_RULES"])
  expect(chain(from, "LUDUS_DEFAULTS").map(({ comment, destination }) => comment ?? destination)).toEqual([
    "User Default: always_blocked_networks rule",
    "User Default: always_blocked_networks rule",
    "Default: allow related/established rule",
    "Default: closed VPN connection",
    "Default: Ludus access rule",
    "Default: Deny traffic to the host",
    "Default: Deny traffic to the host",
    "User Rule: vpn two",
    "User Rule: vpn one",
    "Default: Deny traffic to the VPN server",
    "Access Grant: ada",
    "User Default: WireGuard Subnet Rule",
    "Default: Deny traffic in on external interface",
  ])
  expect(chain(from, "LUDUS_DEFAULTS")[0]?.destination).toEqual({ network: "192.168.0.0/16" })
  expect(chain(from, "LUDUS_USER_RULES").map(({ comment }) => comment)).toEqual([
    "User Rule: two",
    "User Rule: one",
    "User Default: Inter-VLAN Rule",
    "User Default: External Rule",
  ])
})

describe("as text for iptables-restore", () => {
  const rules = [
    rule({
      name: 'say "hi" \\o/\n-j ACCEPT',
      ip_last_octet_src: "5-9",
      ip_last_octet_dst: 3,
      protocol: "tcp",
      ports: "80, 8000:8010",
      action: "DROP",
    }),
    rule({ name: "out", vlan_dst: "public", protocol: "icmp" }),
  ]
  const text = renderIptablesRestore(packetFilter(input({ rules })), "ens18") ?? ""

  test("the whole table is replaced at once", () => {
    const lines = text.split("\n")
    expect(lines.slice(0, 7)).toEqual([
      "*filter",
      ":INPUT ACCEPT [0:0]",
      ":FORWARD DROP [0:0]",
      ":OUTPUT ACCEPT [0:0]",
      ":LUDUS_DEFAULTS - [0:0]",
      ":LUDUS_TESTING - [0:0]",
      ":LUDUS_USER_RULES - [0:0]",
    ])
    expect(lines.slice(-2)).toEqual(["COMMIT", ""])
  })

  test("each rule is one line, and nothing in a name can end it", () => {
    expect(text.split("\n").filter((line) => line.startsWith("-A LUDUS_USER_RULES"))).toEqual([
      '-A LUDUS_USER_RULES -s 10.7.10.0/24 ! -d 10.7.0.0/16 -p icmp -m comment --comment "User Rule: out" -j ACCEPT',
      '-A LUDUS_USER_RULES -m iprange --src-range 10.7.10.5-10.7.10.9 -d 10.7.20.3 -p tcp -m tcp --dport 80 -m comment --comment "User Rule: say \\"hi\\" \\\\o/ -j ACCEPT" -j DROP',
      '-A LUDUS_USER_RULES -m iprange --src-range 10.7.10.5-10.7.10.9 -d 10.7.20.3 -p tcp -m tcp --dport 8000:8010 -m comment --comment "User Rule: say \\"hi\\" \\\\o/ -j ACCEPT" -j DROP',
      '-A LUDUS_USER_RULES -s 10.7.0.0/16 -d 10.7.0.0/16 -m comment --comment "User Default: Inter-VLAN Rule" -j ACCEPT',
      '-A LUDUS_USER_RULES -s 10.7.0.0/16 ! -d 10.7.0.0/16 -m comment --comment "User Default: External Rule" -j ACCEPT',
    ])
    expect(text).toContain(
      '-A LUDUS_DEFAULTS -s 192.0.2.254 -i ens18 -m comment --comment "Default: Ludus access rule" -j ACCEPT',
    )
    expect(text).toContain(
      '-A LUDUS_DEFAULTS -m conntrack --ctstate RELATED,ESTABLISHED -m comment --comment "Default: allow related/established rule" -j ACCEPT',
    )
  })

  test("any name of a rule gives one line with a comment that fits", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (name) => {
        const from = input({})
        const named = { ...networkOf({ rules: [rule({ vlan_src: 11 })] }) }
        const network = { ...named, rules: named.rules.map((each) => ({ ...each, name })) }
        const lines = (renderIptablesRestore(packetFilter({ ...from, network }), "ens18") ?? "")
          .split("\n")
          .filter((line) => line.includes("10.7.11.0/24"))
        expect(lines).toHaveLength(1)
        const comment = /--comment "((?:[^"\\]|\\.)*)" -j ACCEPT$/u.exec(lines[0] ?? "")?.[1]?.replaceAll(/\\(.)/gu, "$1")
        expect(Buffer.byteLength(comment ?? "x".repeat(999))).toBeLessThan(256)
        expect(comment?.startsWith("User Rule: ")).toBe(true)
      }),
    )
  })

  test("a long name is cut between characters to what a comment holds", () => {
    for (const character of ["x", "é", "€", "😀"]) {
      const named = networkOf({ rules: [rule({ name: character.repeat(300), vlan_src: 11 })] })
      const comment =
        packetFilter({ ...input({}), network: named }).rules.find((each) => each.comment?.startsWith("User Rule: "))?.comment ??
        ""
      expect(Buffer.byteLength(comment)).toBeLessThanOrEqual(255)
      expect(Buffer.byteLength(comment + character)).toBeGreaterThan(255)
      expect(comment.isWellFormed()).toBe(true)
    }
  })

  test("an outside interface that is no interface name gives nothing", () => {
    for (const name of ["", "ens18 -j ACCEPT", "ens+", "a\nb", "x".repeat(16), "-i"])
      expect(renderIptablesRestore(packetFilter(input({})), name)).toBeUndefined()
  })
})
