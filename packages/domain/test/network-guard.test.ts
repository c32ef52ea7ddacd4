import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  addressNumber,
  allowedDomain,
  closedNames,
  type FirewallInput,
  packetFilter,
  publicRules,
  renderGuard,
  renderIptablesRestore,
  testingWarnings,
} from "../src/network/index.ts"
import { spans, parseCidr } from "../src/network/cidr.ts"
import { accepted } from "./range-config-text.ts"

const rule = (more: object): object => ({
  name: "r",
  vlan_src: 10,
  vlan_dst: 20,
  protocol: "all",
  ports: "all",
  action: "ACCEPT",
  ...more,
})
const testing = {
  exempt: [{ address: "10.7.10.12", macs: ["02:00:00:00:01:00"] }],
  allowed: ["198.18.0.1"],
  names: ["allowed.example"],
}
const input = (network: object = {}, more: Partial<FirewallInput> = {}): FirewallInput => ({
  rangeNumber: 7,
  network: accepted({ ludus: [], network }).config.network,
  grants: [],
  hostAddresses: ["203.0.113.9"],
  testing,
  ...more,
})
/** The rules of one chain. */
const chain = (from: FirewallInput, name: string): readonly string[] => {
  const text = renderGuard(from)
  const at = text.indexOf(`  chain ${name} {\n`)
  return text
    .slice(at, text.indexOf("\n  }", at))
    .split("\n")
    .slice(1)
    .map((line) => line.trim())
}

describe("the guard of a router", () => {
  test("stops IPv6, and nothing else, while testing mode is off", () => {
    expect(renderGuard(input({}, { testing: undefined }))).toBe(
      "# open\ntable inet rangewright {\n  chain forward {\n    type filter hook forward priority -10; policy accept;\n    meta nfproto ipv6 drop\n  }\n}\n",
    )
  })

  test("says first that the range is closed", () => {
    expect(renderGuard(input()).split("\n")[0]).toBe("# closed")
  })

  test("identifies machines that keep their internet access by IP and MAC address, and ignores those without a MAC address", () => {
    expect(chain(input(), "out")).toContain("ip saddr 10.7.10.12 ether saddr { 02:00:00:00:01:00 } accept")
    const unknown = { ...testing, exempt: [{ address: "10.7.10.12", macs: [] }] }
    expect(renderGuard(input({}, { testing: unknown }))).not.toContain("10.7.10.12")
  })

  test("refuses the host and blocked networks before it lets anything out that is allowed", () => {
    const from = input(
      { always_blocked_networks: ["198.18.0.0/24"] },
      { testing: { ...testing, allowed: ["192.0.2.254", "198.18.0.1"] } },
    )
    const out = chain(from, "out")
    const kept = out.indexOf(
      "ip daddr { 192.0.2.254, 198.18.0.0-198.18.0.255, 203.0.113.9 } reject with icmpx type admin-prohibited",
    )
    const allowed = out.indexOf("ip daddr { 192.0.2.254, 198.18.0.1 } accept")
    expect(kept).toBeGreaterThan(-1)
    expect(allowed).toBeGreaterThan(kept)
  })

  test("follows rules of the configuration to the outside, both ways and the last one first, and no others", () => {
    const rules = [
      rule({ name: "web", vlan_dst: "public", protocol: "tcp", ports: "443,8000:8080", ip_last_octet_src: "5-9" }),
      rule({ name: "inside" }),
      rule({ name: "vpn", vlan_dst: "wireguard" }),
      rule({ name: "in", vlan_src: "public" }),
      rule({ name: "no", vlan_dst: "public", action: "REJECT" }),
    ]
    const from = input({ rules })
    expect(chain(from, "out").slice(-4)).toEqual([
      "ip saddr 10.7.10.0/24 jump refuse",
      "ip saddr 10.7.10.5-10.7.10.9 meta l4proto 6 th dport 443 accept",
      "ip saddr 10.7.10.5-10.7.10.9 meta l4proto 6 th dport 8000-8080 accept",
      "jump refuse",
    ])
    expect(chain(from, "in").slice(-4)).toEqual([
      "ip daddr 10.7.10.0/24 drop",
      "ip daddr 10.7.10.5-10.7.10.9 meta l4proto 6 th sport 443 accept",
      "ip daddr 10.7.10.5-10.7.10.9 meta l4proto 6 th sport 8000-8080 accept",
      "drop",
    ])
  })

  test("has a set for each allowed name, and the filter trusts what it marks; a name that is too long has its address alone", () => {
    const long = `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}`
    const from = input({}, { testing: { ...testing, names: ["allowed.example", long] } })
    expect(renderGuard(from)).toContain("  set name_allowed.example {\n")
    expect(renderGuard(from)).not.toContain(long)
    const line =
      '-A LUDUS_TESTING -m mark --mark 0x20000000/0x20000000 -m comment --comment "Ludus Testing: Allow addresses of domains" -j ACCEPT'
    expect(renderIptablesRestore(packetFilter(from), "ens18")).toContain(line)
    expect(
      closedNames(
        7,
        [10],
        [
          { name: "allowed.example", address: "198.18.0.1" },
          { name: long, address: undefined },
        ],
      ),
    ).toEqual({
      port: 5300,
      listen: ["10.7.10.254"],
      upstream: "192.0.2.254",
      domains: [{ name: "allowed.example", address: "198.18.0.1", set: "name_allowed.example" }, { name: long }],
    })
  })

  test("lets a tunnel of the router out only where there is one", () => {
    expect(chain(input({}, { hasTunnel: true }), "output")).toContain("meta mark 51 accept")
    expect(chain(input(), "output")).not.toContain("meta mark 51 accept")
  })
})

test("networks become spans that hold the same addresses, in order and apart", () => {
  const cidr = fc
    .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 24, max: 32 }))
    .map(([last, length]) => `198.18.0.${last}/${length}`)
  fc.assert(
    fc.property(fc.array(cidr, { maxLength: 8 }), (texts) => {
      const networks = texts.flatMap((text) => parseCidr(text) ?? [])
      const ends = spans(networks).map((span) => span.split("-").map((text) => addressNumber(text) ?? -1))
      const apart = ends.map(([first = -1, last = first]) => ({ first, last }))
      for (const [i, { first, last }] of apart.entries()) {
        expect(first).toBeLessThanOrEqual(last)
        if (i > 0) expect(first).toBeGreaterThan((apart[i - 1]?.last ?? 0) + 1)
      }
      for (let address = 0xc6_12_00_00; address <= 0xc6_12_00_ff; address += 1) {
        const within = (all: readonly { readonly first: number; readonly last: number }[]) =>
          all.some(({ first, last }) => first <= address && address <= last)
        expect(within(apart)).toBe(within(networks))
      }
    }),
  )
})

describe("a domain that is allowed", () => {
  test("is read with its address", () => {
    expect(allowedDomain("Allowed.Example (198.18.0.1)")).toEqual({ name: "allowed.example", address: "198.18.0.1" })
    expect(allowedDomain("allowed.example (198.18.0.999)")).toEqual({ name: "allowed.example", address: undefined })
  })

  test("opens nothing if it is not a name that DNS can resolve", () => {
    const bad = [
      "com",
      "*.example",
      "a..example",
      "a.example.",
      "-a.example",
      "a.example\n",
      "a b.example",
      "a/b.example",
      "a#b.example",
      "a,b.example",
      `${"a".repeat(64)}.example`,
      "löwe.example",
      "{{ x }}.example",
      "a;b.example",
    ]
    for (const name of bad) expect(allowedDomain(`${name} (198.18.0.1)`), name).toBeUndefined()
    for (const entry of ["allowed.example", "allowed.example (198.18.0.1) ", "(198.18.0.1)", ""])
      expect(allowedDomain(entry)).toBeUndefined()
  })
})

describe("warnings", () => {
  const machine = (name: string, vlan: number, exempt: boolean) => ({
    vm_name: `{{ range_id }}-${name}`,
    hostname: name,
    template: "debian-12-x64-server-template",
    vlan,
    ip_last_octet: name.length + 10,
    ram_gb: 2,
    cpus: 2,
    linux: true,
    testing: { snapshot: true, block_internet: !exempt },
  })
  let known: readonly string[] = ["02:00:00:00:01:00"]
  const warnings = (network: object, ...machines: readonly object[]) =>
    testingWarnings(accepted({ ludus: machines, network }).config, { rangeId: "LAB", hardwareAddresses: () => known })

  test("name the rules that let machines out, and machines that keep their internet access", () => {
    expect(warnings({ inter_vlan_default: "REJECT" }, machine("web", 10, false))).toEqual([])
    const rules = [rule({ name: "updates", vlan_dst: "public" }), rule({ name: "no", vlan_dst: "public", action: "REJECT" })]
    expect(warnings({ inter_vlan_default: "REJECT", rules }, machine("web", 10, false), machine("relay", 10, true))).toEqual([
      'the firewall rule "updates" lets VLAN 10 reach the outside in testing mode too: remove it if you do not want that',
      "LAB-relay keeps its internet access in testing mode (testing.block_internet is false); machines that reach it can send through it if it forwards what they send; a machine in VLAN 10 that takes over both its IP and its MAC address gets its internet access",
    ])
    expect(publicRules(accepted({ ludus: [], network: { rules } }).config).map(({ name }) => name)).toEqual(["updates"])
    expect(warnings({ inter_vlan_default: "REJECT" }, machine("web", 10, false), machine("relay", 20, true))).toEqual([
      "LAB-relay keeps its internet access in testing mode (testing.block_internet is false)",
    ])
    expect(warnings({ inter_vlan_default: "REJECT", wireguard_vlan_default: "ACCEPT" })).toEqual([
      "machines may open connections to VPN clients in testing mode too, and a client can forward what they send",
    ])
  })
  test("say that a machine without a known MAC address loses its internet access", () => {
    known = []
    expect(warnings({ inter_vlan_default: "REJECT" }, machine("web", 10, false), machine("relay", 10, true))).toEqual([
      expect.stringMatching(/^LAB-relay is isolated too, .*VLAN 10 is known.*Deploy the range/u),
    ])
  })
})
