import { describe, expect, it } from "vitest"
import { membersOf, type ObservedVpn, pairsOf, peerOf, pendingVpn, planVpn, type VpnMember } from "../src/index.ts"

const member = (userNumber: number, publicKey: string, ...rangeNumbers: readonly number[]): VpnMember => ({
  userNumber,
  publicKey,
  rangeNumbers,
})
const alice = member(4, "A", 7, 9)
const bob = member(5, "B", 7)
const server = (members: readonly VpnMember[], more: Partial<ObservedVpn> = {}): ObservedVpn => ({
  publicKey: "S",
  peers: members.map(peerOf),
  pairs: members.flatMap(pairsOf),
  guarded: true,
  ...more,
})

describe("the plan for the VPN's server", () => {
  it("is nothing where nothing differs, in whatever order", () => {
    const there = server([bob, alice])
    expect(planVpn([alice, bob], there)).toEqual({ difference: { remove: [], set: [], pairs: undefined }, notes: [] })
    expect(membersOf(there)).toEqual([alice, bob])
  })

  it("removes, sets and judges anew what differs", () => {
    const rotated = member(4, "A2", 7)
    expect(planVpn([rotated], server([alice, bob])).difference).toEqual({
      remove: ["A", "B"],
      set: [{ publicKey: "A2", allowed: ["198.51.100.4/32"] }],
      pairs: [{ client: "198.51.100.4", network: "10.7.0.0/16" }],
    })
    expect(planVpn([alice], server([alice], { guarded: false })).difference).toEqual({
      remove: [],
      set: [],
      pairs: pairsOf(alice),
    })
    const stranger = { client: "198.51.100.4", network: "0.0.0.0/0" }
    expect(planVpn([alice], server([alice], { pairs: [...pairsOf(alice), stranger] })).difference.pairs).toEqual(pairsOf(alice))
    // whom the interface lets send from elsewhere too
    const wide = { publicKey: "A", allowed: ["198.51.100.4/32", "0.0.0.0/0"] }
    expect(planVpn([alice], server([], { peers: [wide], pairs: pairsOf(alice) })).difference.set).toEqual([peerOf(alice)])
  })

  it("knows 2 to 150 as numbers of users, and nothing beyond", () => {
    const at = (...octets: readonly number[]) =>
      octets.map((octet) => ({ publicKey: `K${octet}`, allowed: [`198.51.100.${octet}/32`] }))
    const { difference, notes } = planVpn([], server([], { peers: at(1, 2, 150, 151, 254) }))
    expect([difference.remove, notes]).toEqual([["K2", "K150"], []])
    expect(membersOf(server([], { peers: at(1, 150, 151) })).map(({ userNumber }) => userNumber)).toEqual([150])
  })

  it("leaves peers of others alone, and names those that could pretend to be users", () => {
    const site = { publicKey: "SITE", allowed: ["10.99.0.0/16", "198.51.100.200/32", "2001:db8::/64"] }
    const fresh = { publicKey: "NEW", allowed: [] }
    const wide = { publicKey: "WIDE", allowed: ["0.0.0.0/0"] }
    const { difference, notes } = planVpn([], server([], { peers: [site, fresh, wide] }))
    expect(difference).toEqual({ remove: [], set: [], pairs: undefined })
    expect(notes).toEqual([expect.stringContaining("the peer WIDE is not of this service")])
  })
})

it("what is pending is what the server may have and should not, and what it should have and does not surely", () => {
  const held = { has: [alice], adding: [bob], notes: [] }
  expect(pendingVpn(held, [alice, bob])).toEqual({
    revocations: [],
    grants: ["198.51.100.5 with the key B", "198.51.100.5 to 10.7.0.0/16"],
  })
  expect(pendingVpn(held, [member(4, "A", 9)])).toEqual({
    revocations: ["198.51.100.4 to 10.7.0.0/16", "198.51.100.5 with the key B", "198.51.100.5 to 10.7.0.0/16"],
    grants: [],
  })
})
