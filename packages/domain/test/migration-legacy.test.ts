import { describe, expect, test } from "vitest"
import {
  adoptionOf,
  type ImportTarget,
  type LegacyInstallation,
  type LegacyUser,
  type MachineDetail,
  machinesTakenOver,
  planImport,
  type RangeId,
  rangesTakenOver,
  readDescription,
  type UserId,
  type Vmid,
  writeDescription,
} from "../src/index.ts"

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
  unread: [],
  ...more,
})
const testing = { enabled: false, domains: [], addresses: [] }
const range = (
  userId: string,
  number: number,
  more: Partial<LegacyInstallation["ranges"][number]> = {},
): LegacyInstallation["ranges"][number] => ({
  userId,
  number,
  state: "SUCCESS",
  testing,
  lastDeploymentAt: undefined,
  ...more,
})
const installation = (parts: Partial<LegacyInstallation>): LegacyInstallation => ({
  users: [],
  ranges: [],
  machines: [],
  access: [],
  takenOver: undefined,
  unread: [],
  ...parts,
})
const here = (id: string, account = id.toLowerCase()): ImportTarget["users"][number] => ({
  id: id as UserId,
  email: `${account}@example.org`,
  hypervisorUsername: account,
  defaultRangeId: id as RangeId,
})
const nothing: ImportTarget = { users: [], ranges: [], grants: [] }

describe("the import of an installation of the first generation", () => {
  test("brings users with their ranges under their numbers, and grants", () => {
    const { users, ranges, grants, skipped } = planImport(
      installation({
        users: [user("JD", { isAdmin: true }), user("AB")],
        ranges: [range("JD", 2), range("AB", 5)],
        access: [{ targetUserId: "JD", sourceUserIds: ["AB", "JD"] }],
      }),
      nothing,
    )
    expect(users).toMatchObject([
      { id: "JD", isAdmin: true, apiKeyHash: hash, email: "jd@ludus.internal", number: 2 },
      { id: "AB" },
    ])
    expect(ranges.map(({ id, number, name, owner }) => [id, number, name, owner])).toEqual([
      ["JD", 2, "Default Range for JD", "JD"],
      ["AB", 5, "Default Range for AB", "AB"],
    ])
    expect(grants).toEqual([{ rangeId: "JD", userId: "AB" }])
    expect(skipped).toEqual([])
  })

  test("brings nothing when it is repeated", () => {
    const legacy = installation({
      users: [user("JD")],
      ranges: [range("JD", 1)],
      access: [{ targetUserId: "JD", sourceUserIds: ["JD"] }],
    })
    const { users, ranges, grants } = planImport(legacy, nothing)
    const target: ImportTarget = {
      users: users.map((one) => ({ ...one, defaultRangeId: ranges[0]?.id })),
      ranges,
      grants: [...grants, ...ranges.map(({ id, owner }) => ({ rangeId: id, userId: owner }))],
    }
    expect(planImport(legacy, target)).toEqual({ users: [], ranges: [], grants: [], defaults: [], skipped: [] })
  })

  test("brings the rest after an import that stopped halfway", () => {
    const legacy = installation({
      users: [user("JD"), user("AB"), user("CD")],
      ranges: [range("JD", 1), range("AB", 2), range("CD", 3)],
    })
    const { users, ranges, defaults } = planImport(legacy, {
      ...nothing,
      users: [here("JD"), { ...here("CD"), defaultRangeId: undefined }],
      ranges: [{ id: "CD" as RangeId, number: 3 }],
    })
    expect(users.map(({ id }) => id)).toEqual(["AB"])
    expect(ranges.map(({ id }) => id)).toEqual(["JD", "AB"])
    expect(defaults).toEqual([{ rangeId: "CD", userId: "CD" }])
  })

  test("keeps the state, last deployment and testing mode of ranges, and no unfinished run", () => {
    const at = new Date("2024-05-06T07:08:09Z")
    const allowed = {
      enabled: true,
      domains: ["a.example (192.0.2.9)", "b.example", "x'; reboot #", "c.example (999.1.1.1)"],
      addresses: ["192.0.2.1", "192.0.2.1", "-j ACCEPT"],
    }
    const states = ["SUCCESS", "DEPLOYING", "DESTROYING", "DESTROYED", "ABORTED", "ERROR", "NEVER DEPLOYED", "?"]
    const ids = states.map((_state, i) => `U${i}`)
    const { ranges, skipped } = planImport(
      installation({
        users: ids.map((id) => user(id)),
        ranges: states.map((state, i) => range(`U${i}`, i + 1, { state, lastDeploymentAt: at, testing: allowed })),
      }),
      nothing,
    )
    expect(ranges.map(({ state }) => state)).toEqual([
      "SUCCESS",
      "ABORTED",
      "ERROR",
      "DESTROYED",
      "ABORTED",
      "ERROR",
      "NEVER DEPLOYED",
      "NEVER DEPLOYED",
    ])
    expect(ranges[0]?.lastDeploymentAt).toEqual(at)
    // its router has the old service's rules: no start has closed it by today's
    expect(ranges[0]?.testing).toEqual({
      mode: "entering",
      allowedDomains: ["a.example (192.0.2.9)", "b.example"],
      allowedIps: ["192.0.2.1"],
    })
    expect(skipped).toHaveLength(2 * states.length)
    expect(skipped.slice(0, 2)).toEqual([
      "the range of user U0: 3 invalid allowed domains or addresses of testing mode",
      "the range of user U0: testing is on, but its router has the rules of the old service, so its testing state is entering: start testing again, or stop it",
    ])
  })

  test("puts users first whose number can be kept", () => {
    const { users } = planImport(
      installation({ users: [user("AA"), user("BB")], ranges: [range("AA", 1), range("BB", 2)] }),
      nothing,
    )
    expect(users.map(({ id }) => id)).toEqual(["BB", "AA"])
  })

  test("takes the first of duplicate rows, and distinguishes IDs that differ by case", () => {
    const { users, ranges, skipped } = planImport(
      installation({
        users: [user("JD"), user("JD", { name: "again" }), user("jd", { hypervisorUsername: "jd2" })],
        ranges: [range("JD", 1), range("JD", 2), range("jd", 3), range("GONE", 4)],
      }),
      nothing,
    )
    expect(users.map(({ id, name }) => [id, name])).toEqual([
      ["jd", "User jd"],
      ["JD", "User JD"],
    ])
    expect(ranges.map(({ id, number }) => [id, number])).toEqual([
      ["JD", 1],
      ["jd", 3],
    ])
    expect(skipped).toEqual([
      "a second range of user JD: only the first one counts",
      "a second user JD: only the first one counts",
      "the range of GONE: the database has no such user",
    ])
  })

  test("reports hostile texts in one short line each", () => {
    const { skipped } = planImport(
      installation({ users: [user(`\u001b[2J\n${"x".repeat(100_000)}`), user("A\0B")], ranges: [] }),
      nothing,
    )
    expect(skipped).toEqual([
      `user \ufffd[2J ${"x".repeat(75)}…: the user ID is not allowed`,
      "user A\ufffdB: the user ID is not allowed",
    ])
  })

  test("leaves out what cannot be here, and says why", () => {
    const { users, skipped } = planImport(
      installation({
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
          user("DD", { apiKeyHash: "plain", unread: ["the file f was left out: it is a link"] }),
          user("YY", { hypervisorUsername: "other" }),
          user("ZZ", { hypervisorUsername: "taken" }),
        ],
        ranges: [
          range("../up", 1),
          range("ADMIN", 2),
          range("HI", 999),
          range("AA", 3),
          range("BB", 4),
          range("CC", 7),
          range("DD", 8),
          range("YY", 9),
          range("ZZ", 10),
        ],
        access: [{ targetUserId: "CC", sourceUserIds: ["DD"] }],
        unread: ["the table t: the database has none"],
      }),
      { ...nothing, users: [here("ZZ", "taken"), here("YY")], ranges: [{ id: "ZZ" as RangeId, number: 7 }] },
    )
    expect(users.map(({ id, apiKeyHash }) => [id, apiKeyHash])).toEqual([["DD", undefined]])
    expect(skipped).toEqual([
      "the table t: the database has none",
      "user ../up: the user ID is not allowed",
      "user __proto__: the user ID is not allowed",
      "user ADMIN: the user ID is reserved",
      "user NR: the user has no range",
      "user HI: the range number 999 is outside 1 to 153",
      "user AA: x; rm -rf / is not a valid account name",
      "user BB: the account taken belongs to user ZZ",
      "user CC: the range number 7 belongs to range ZZ",
      "the API key of user DD: its hash is not a bcrypt hash with a cost of 4 to 14",
      "user DD: the file f was left out: it is a link",
      "user YY: the existing user with this name has the account yy, not other",
      "user ZZ: the existing range ZZ has the number 7, not 10",
      "access of DD to the range of CC: one of them does not exist here",
    ])
  })
})

describe("a machine of the first generation", () => {
  const ranges = [
    { id: "JD" as RangeId, number: 1 },
    { id: "OTHER" as RangeId, number: 2 },
  ]
  const machine = (vmid: number, rangeNumber: number, name: string, address = "10.1.10.11") => ({
    vmid,
    rangeNumber,
    name,
    poweredOn: true,
    address,
  })
  const vm = (more: Partial<MachineDetail> = {}): MachineDetail => ({
    vmid: 104 as Vmid,
    node: "pve1",
    name: "JD-win",
    template: false,
    tags: [],
    description: '{"groups": ["JD_windows",]}',
    cpus: 2,
    memoryMiB: 4096,
    balloonMiB: undefined,
    nics: [],
    lock: undefined,
    digest: undefined,
    storage: undefined,
    ...more,
  })
  const decide = (more: Partial<MachineDetail>, namesakes = 1) =>
    adoptionOf("JD" as RangeId, vm(more), { named: new Set(["JD-win"]), namesakes })

  test("belongs to the range that has its number and was taken over", () => {
    const legacy = installation({
      users: [user("JD")],
      ranges: [range("JD", 1), range("AB", 2)],
      machines: [machine(104, 1, "JD-win"), machine(105, 2, "AB-win"), machine(104, 1, "twice"), machine(Number.NaN, 1, "x")],
    })
    const known = rangesTakenOver(legacy, ranges)
    expect(known.map(({ id }) => id)).toEqual(["JD"])
    const { machines, left } = machinesTakenOver(legacy, known)
    expect(machines).toEqual([{ vmid: 104, rangeId: "JD", name: "JD-win", poweredOn: true, address: "10.1.10.11" }])
    expect(left).toBe(3)
  })

  test("becomes ours with its groups when the configuration names it", () => {
    const adoption = decide({})
    expect(adoption.kind === "adopt" && readDescription(adoption.description)).toEqual({
      groups: ["JD_windows"],
      mark: { range: "JD", machine: "JD-win", adopted: true },
    })
    expect(decide({ description: "" }).kind).toBe("adopt")
  })

  test("is ours already when it carries our mark", () => {
    expect(decide({ description: writeDescription({ range: "JD" as RangeId, machine: "JD-win" }, []) })).toEqual({ kind: "ours" })
  })

  test("stays as it is when anything speaks against adopting it", () => {
    expect([
      decide({ description: writeDescription({ range: "X" as RangeId, machine: "JD-win" }, []) }),
      decide({ template: true }),
      decide({ name: "JD-mine" }),
      adoptionOf("JD" as RangeId, vm(), { named: undefined, namesakes: 1 }),
      decide({}, 2),
      decide({ description: "my notes" }),
      decide({ description: '{"groups": [], "note": "mine"}' }),
    ]).toEqual(
      [
        "its mark names the range X",
        "it is a template",
        "the configuration has no such machine",
        "the configuration of its range has errors; fix it and repeat the import",
        "another VM in the pool has its name",
        "its description contains text that is not from the old service",
        "its description contains text that is not from the old service",
      ].map((why) => ({ kind: "leave", why })),
    )
  })
})
