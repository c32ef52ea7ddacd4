import { describe, expect, test } from "vitest"
import { type LegacyInstallation, type LegacyUser, planImport, type RangeId, type UserId } from "../src/index.ts"

const hash = `$2a$04$${"a".repeat(53)}`
const user = (id: string, more: Partial<LegacyUser> = {}): LegacyUser => ({
  id,
  name: `User ${id}`,
  isAdmin: false,
  apiKeyHash: hash,
  hypervisorUsername: id.toLowerCase(),
  createdAt: undefined,
  password: "secret",
  config: "ludus: []\n",
  ...more,
})
const testing = { enabled: false, allowedDomains: [], allowedIps: [] }
const range = (userId: string, number: number): LegacyInstallation["ranges"][number] => ({
  userId,
  number,
  testing,
  lastDeploymentAt: undefined,
})
const nothing = { users: [], ranges: [], grants: [] }

describe("what an installation of the first generation comes to", () => {
  test("is its users with their ranges under their numbers, and who has whose", () => {
    const { users, ranges, grants, skipped } = planImport(
      {
        users: [user("JD", { isAdmin: true }), user("AB")],
        ranges: [range("JD", 1), range("AB", 5)],
        access: [{ targetUserId: "JD", sourceUserIds: ["AB", "JD"] }],
      },
      nothing,
    )
    expect(users).toMatchObject([
      { id: "JD", isAdmin: true, apiKeyHash: hash, email: "jd@ludus.internal", number: 1 },
      { id: "AB" },
    ])
    expect(ranges.map(({ id, number, name, owner }) => [id, number, name, owner])).toEqual([
      ["JD", 1, "Default Range for JD", "JD"],
      ["AB", 5, "Default Range for AB", "AB"],
    ])
    expect(grants).toEqual([{ rangeId: "JD", userId: "AB" }])
    expect(skipped).toEqual([])
  })

  test("is nothing more when it was taken over", () => {
    const legacy = { users: [user("JD")], ranges: [range("JD", 1)], access: [{ targetUserId: "JD", sourceUserIds: ["JD"] }] }
    const { users, ranges, grants } = planImport(legacy, nothing)
    const target = {
      users,
      ranges,
      grants: [...grants, ...ranges.map(({ id, owner }) => ({ rangeId: id, userId: owner }))],
    }
    expect(planImport(legacy, target)).toEqual({ users: [], ranges: [], grants: [], skipped: [] })
  })

  test("is the rest of it after an import that ended half-way", () => {
    const legacy = { users: [user("JD"), user("AB")], ranges: [range("JD", 1), range("AB", 2)], access: [] }
    const half = { users: [{ id: "JD" as UserId, hypervisorUsername: "jd" }], ranges: [], grants: [] }
    const { users, ranges } = planImport(legacy, half)
    expect(users.map(({ id }) => id)).toEqual(["AB"])
    expect(ranges.map(({ id }) => id)).toEqual(["JD", "AB"])
  })

  test("leaves out what cannot be here, and says why", () => {
    const { users, skipped } = planImport(
      {
        users: [
          user("ROOT"),
          user("../up"),
          user("__proto__"),
          user("ADMIN"),
          user("NR"),
          user("HI"),
          user("AA", { hypervisorUsername: "x; rm -rf /" }),
          user("BB", { hypervisorUsername: "taken" }),
          user("CC"),
          user("DD", { apiKeyHash: "plain" }),
        ],
        ranges: [
          range("../up", 1),
          range("ADMIN", 2),
          range("HI", 999),
          range("AA", 3),
          range("BB", 4),
          range("CC", 7),
          range("DD", 8),
        ],
        access: [{ targetUserId: "CC", sourceUserIds: ["DD"] }],
      },
      { users: [{ id: "ZZ" as UserId, hypervisorUsername: "taken" }], ranges: [{ id: "ZZ" as RangeId, number: 7 }], grants: [] },
    )
    expect(users.map(({ id, apiKeyHash }) => [id, apiKeyHash])).toEqual([["DD", undefined]])
    expect(skipped).toEqual([
      "user ../up: the user ID is not allowed",
      "user __proto__: the user ID is not allowed",
      "user ADMIN: the user ID is reserved",
      "user NR: the user has no range",
      "user HI: the range number 999 is outside 1 to 153",
      "user AA: x; rm -rf / is no name of an account",
      "user BB: the account taken belongs to another user",
      "user CC: the range number 7 belongs to range ZZ",
      "the API key of user DD: its hash is not one of bcrypt with a cost of 4 to 14",
      "access of DD to the range of CC: one of them is not here",
    ])
  })
})
