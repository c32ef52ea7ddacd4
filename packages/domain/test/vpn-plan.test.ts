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
    expect(planVpn([alice, bob], there)).toEqual({ difference: { remove: [], set: [], pairs: undefined }, notes: [], taken: [] })
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
    expect(notes).toEqual([expect.stringContaining("the peer WIDE does not belong to this service")])
  })

  it("reports what it takes from unknown peers, but not from its own", () => {
    const site = { publicKey: "SITE", allowed: ["10.99.0.0/16", "198.51.100.4/32", "198.51.100.5/32", "198.51.100.0/24"] }
    const there = server([bob, member(6, "STRANGER")], { peers: [...[bob, member(6, "STRANGER")].map(peerOf), site] })
    const { difference, taken } = planVpn([alice], there, new Set(["B"]))
    expect(difference.remove).toEqual(["B", "STRANGER"])
    expect(taken).toEqual([
      expect.stringContaining("removes the peer STRANGER (198.51.100.6/32)"),
      expect.stringContaining("takes 198.51.100.4/32 from the peer SITE"),
    ])
    expect(planVpn([bob], server([bob]), new Set()).taken).toEqual([])
  })

  it("loads the rules if they could not be read, and still plans the peers", () => {
    const blind = server([alice, bob], { pairs: undefined, guarded: false })
    expect(planVpn([alice], blind).difference).toEqual({ remove: ["B"], set: [], pairs: pairsOf(alice) })
    expect(membersOf(blind)).toEqual([member(4, "A"), member(5, "B")])
  })
})

it("pending is what the server may have but should not, and what it should have but may not", () => {
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
