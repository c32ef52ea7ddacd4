import { describe, expect, it, test } from "vitest"
import {
  aboutToHold,
  type AccountId,
  changesOf,
  desiredAccess,
  groupOfAccount,
  heldInLine,
  nothingHeld,
  nothingKept,
  pendingAccess,
  planAccess,
  type RangeId,
  type StoredAccess,
  type UserId,
} from "../src/index.ts"

test.each(["constructor", "toString", "valueOf", "hasOwnProperty"])(
  "a range may be called %s like what every object has",
  (name) => {
    const account = "alice@pve" as AccountId
    const user = { id: "alice" as UserId, account, isAdmin: false, passwordVersion: "1" }
    const range = { id: name as RangeId, number: 1, users: [user.id], machines: [], leaving: false }
    const desired = desiredAccess({ users: [user], ranges: [range] }, { type: "bridges" })
    const observed = {
      accounts: new Map(),
      groups: new Map<string, boolean>(),
      pools: new Map<RangeId, boolean>(),
      vnets: new Map<string, string>(),
      rights: [],
    }
    const plan = planAccess({ desired, held: nothingHeld, observed })
    expect(pendingAccess(nothingHeld, desired).others).toContain(`${account} has no rights on ${name} yet`)
    expect(aboutToHold(nothingHeld, desired, changesOf(plan)).ranges).toEqual({ [name]: [account] })
    expect(pendingAccess(heldInLine(nothingHeld, desired, []), desired)).toEqual({ revocations: [], others: [] })
    const leaving = desiredAccess({ users: [user], ranges: [{ ...range, leaving: true }] }, { type: "bridges" })
    expect(aboutToHold(nothingHeld, leaving, []).ranges).toEqual({})
  },
)

describe("one change that always fails", () => {
  const user = (name: string): StoredAccess["users"][number] => ({
    id: name as UserId,
    account: `${name}@pve` as AccountId,
    isAdmin: false,
    passwordVersion: "1",
  })
  const [alice, bob] = [user("alice"), user("bob")]
  const range = (id: string, ...users: readonly (typeof alice)[]): StoredAccess["ranges"][number] => ({
    id: id as RangeId,
    number: id.length,
    users: users.map((one) => one.id),
    machines: [],
    leaving: false,
  })
  const vnets = { type: "vnets", zone: "ludus" } as const
  const before = desiredAccess({ users: [alice, bob], ranges: [range("A", alice, bob), range("BB", alice, bob)] }, vnets)
  const held = aboutToHold(nothingHeld, before, [])

  it("of a range keeps only that range's revocations pending", () => {
    const after = desiredAccess({ users: [alice, bob], ranges: [range("A", bob), range("BB", alice)] }, vnets)
    for (const place of [...after.places.values()].map((one) => one.place).slice(0, 2)) {
      const left = { kind: "revoke", place, subjects: [{ type: "group", name: groupOfAccount(alice.account) }] } as const
      expect(pendingAccess(heldInLine(held, after, [left]), after).revocations).toEqual(["alice@pve still has rights on A"])
    }
  })

  it("of an account keeps only that account pending", () => {
    const after = desiredAccess({ users: [], ranges: [] }, vnets)
    const group = groupOfAccount(alice.account)
    for (const left of [{ kind: "remove-account", account: alice.account } as const, { kind: "remove-group", group } as const])
      expect(pendingAccess(heldInLine(held, after, [left]), after).revocations).toEqual(["alice@pve still exists"])
  })

  it("on a network of a range that is gone keeps that network recorded", () => {
    const after = desiredAccess({ users: [alice, bob], ranges: [] }, vnets)
    const place = { type: "vnet", zone: "ludus", name: "r1" } as const
    const left = { kind: "revoke", place, subjects: [{ type: "user", name: "eve@pve" }] } as const
    const kept = heldInLine({ ...held, vnets: [place] }, after, [left])
    expect(kept).toMatchObject({ ranges: {}, vnets: [place], unsettled: true })
    expect(pendingAccess(kept, after).revocations).toEqual(["rights on VNet ludus/r1 still exist"])
    const unseen = desiredAccess({ users: [alice, bob], ranges: [] }, { type: "unknown" })
    expect(pendingAccess(kept, unseen).revocations).toEqual([])
  })

  it("keeps what is being created unsettled", () => {
    const left = { kind: "set-password", account: alice.account, groups: [], keep: nothingKept } as const
    const known = { ...held, accounts: { ...held.accounts, [alice.account]: { admin: false, password: null } } }
    expect(heldInLine(known, before, [left]).accounts).toEqual(known.accounts)
  })
})
