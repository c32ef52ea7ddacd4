import {
  accessTypeOf,
  isGroupName,
  mayManage,
  mayUse,
  type AccessType,
  type GroupRole,
  type RangeAccess,
  type UserId,
} from "@rangewright/domain"
import { describe, expect, it } from "vitest"

const ada = { id: "Ada" as UserId, isAdmin: false }
const admin = { id: "Root1" as UserId, isAdmin: true }
const grantOf = (accessType: AccessType, userId: UserId = ada.id) => ({ userId, accessType })

describe("using a range", () => {
  const cases: readonly (readonly [AccessType, Readonly<Record<RangeAccess, boolean>>])[] = [
    ["Direct", { "range-access": true, "range-owner": true }],
    ["Group Manager", { "range-access": true, "range-owner": true }],
    ["Group Member", { "range-access": true, "range-owner": false }],
  ]
  it.each(cases)("is open as far as %s access goes", (accessType, expected) => {
    for (const access of ["range-access", "range-owner"] as const) {
      expect(mayUse(access, ada, [grantOf(accessType)])).toBe(expected[access])
      expect(mayUse(access, ada, [grantOf(accessType, "Bob" as UserId)])).toBe(false)
      expect(mayUse(access, admin, [])).toBe(true)
    }
  })

  it("is open by the best of several paths", () => {
    expect(mayUse("range-owner", ada, [grantOf("Group Member"), grantOf("Group Manager")])).toBe(true)
  })
})

describe("a group", () => {
  it("is managed by its managers and by administrators", () => {
    const roles: readonly (GroupRole | undefined)[] = ["manager", "member", undefined]
    expect(roles.map((role) => mayManage(ada, role))).toEqual([true, false, false])
    expect(roles.map((role) => mayManage(admin, role))).toEqual([true, true, true])
  })

  it("gives access by the role in it", () => {
    expect([accessTypeOf("member"), accessTypeOf("manager")]).toEqual(["Group Member", "Group Manager"])
  })

  it("has a name of letters, digits, _ and -, 64 at most", () => {
    for (const name of ["red", "Red_Team-2", "0", "-", "x".repeat(64), "__proto__"]) expect(isGroupName(name)).toBe(true)
    for (const name of ["", "a b", "a/b", "a.b", "ä", "a\u0000", "red\n", "x".repeat(65)]) expect(isGroupName(name)).toBe(false)
  })
})
