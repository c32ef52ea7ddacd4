import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  enterpriseEntitlement,
  entitlementsOf,
  entitles,
  type License,
  mayInstallRole,
  type PackageId,
  readSubscriptionIndex,
  renderLastModified,
  renderUnixSeconds,
  type SubscriptionIndex,
  subscribes,
  type Tier,
  tierOfRole,
  tiers,
  writeSubscriptionIndex,
} from "../src/index.ts"

const licenseOfTier = (tier: Tier, active = true): License => ({
  entitlements: entitlementsOf(tier),
  licensedTo: "",
  active,
  message: "",
  expiresAt: undefined,
})

const tier = fc.constantFrom(...tiers)
const entitlement = fc.constantFrom("PRO_ROLES", "ENTERPRISE_ROLES", "PARTNER_ROLES")
const entitlements = fc.uniqueArray(entitlement, { minLength: 1 })

describe("who may install a subscription role", () => {
  const cases: readonly (readonly [readonly string[], Record<Tier, boolean>])[] = [
    [["ENTERPRISE_ROLES"], { community: false, professional: false, enterprise: true }],
    [["PRO_ROLES", "ENTERPRISE_ROLES"], { community: false, professional: true, enterprise: true }],
    [["PRO_ROLES"], { community: false, professional: true, enterprise: true }],
    [["PARTNER_ROLES"], { community: false, professional: false, enterprise: false }],
  ]
  test.each(cases)("%j opens to the tiers that the specification names", (names, expected) => {
    const role = { entitlements: names }
    expect(Object.fromEntries(tiers.map((t) => [t, mayInstallRole(licenseOfTier(t), role)]))).toEqual(expected)
  })

  test("a higher tier may install whatever a lower one may", () => {
    fc.assert(
      fc.property(tier, tier, entitlements, (a, b, names) => {
        const [lower, higher] = tiers.indexOf(a) <= tiers.indexOf(b) ? [a, b] : [b, a]
        const role = { entitlements: names }
        expect(!mayInstallRole(licenseOfTier(lower), role) || mayInstallRole(licenseOfTier(higher), role)).toBe(true)
      }),
    )
  })

  test("a licence that is not active opens nothing", () => {
    fc.assert(
      fc.property(tier, entitlements, (t, names) => {
        expect(mayInstallRole(licenseOfTier(t, false), { entitlements: names })).toBe(false)
        expect(subscribes(licenseOfTier(t, false))).toBe(false)
      }),
    )
  })

  test("a licence that names a role's own entitlement opens it, whatever its tier", () => {
    const license = { ...licenseOfTier("community"), entitlements: ["PARTNER_ROLES"] }
    expect(mayInstallRole(license, { entitlements: ["PARTNER_ROLES"] })).toBe(true)
    expect(tierOfRole({ entitlements: ["PARTNER_ROLES"] })).toBeUndefined()
  })

  test("a licence that includes everything opens roles of entitlements that nobody knows here", () => {
    const license: License = { ...licenseOfTier("enterprise"), everything: true }
    expect(mayInstallRole(license, { entitlements: ["PARTNER_ROLES"] })).toBe(true)
    expect(mayInstallRole({ ...license, active: false }, { entitlements: ["PARTNER_ROLES"] })).toBe(false)
  })

  test("a community licence with an organisation's own entitlement is one of subscribers", () => {
    expect(subscribes({ ...licenseOfTier("community"), entitlements: ["PARTNER_ROLES"] })).toBe(true)
    expect(subscribes({ ...licenseOfTier("community"), entitlements: [enterpriseEntitlement] })).toBe(false)
  })

  test("only enterprise licences have the operations of the enterprise tier, and community ones are no subscription", () => {
    expect(tiers.filter((t) => entitles(licenseOfTier(t), enterpriseEntitlement))).toEqual(["enterprise"])
    expect(tiers.filter((t) => subscribes(licenseOfTier(t)))).toEqual(["professional", "enterprise"])
  })
})

describe("the time of a role's last change", () => {
  test("is told with weekday, month, day, time, year and offset", () => {
    expect(renderLastModified(new Date("2026-01-05T07:00:00Z"), 60)).toBe("Mon Jan 5 08:00:00 2026 +0100")
    expect(renderLastModified(new Date("2026-12-31T23:59:59Z"))).toBe("Thu Dec 31 23:59:59 2026 +0000")
    expect(renderLastModified(new Date("2026-03-01T00:10:00Z"), -210)).toBe("Sat Feb 28 20:40:00 2026 -0330")
  })

  test("means the same moment in every offset, and in seconds", () => {
    const seconds = fc.integer({ min: 0, max: 4_102_444_800 })
    fc.assert(
      fc.property(seconds, fc.integer({ min: -14 * 60, max: 14 * 60 }), (at, offset) => {
        const date = new Date(at * 1000)
        expect(Date.parse(renderLastModified(date, offset))).toBe(date.getTime())
        expect(renderUnixSeconds(date)).toBe(String(at))
      }),
    )
  })
})

const sample = {
  role: "acme_web",
  version: "1.2.3",
  description: "Serves pages",
  file_count: 3,
  last_modified_unix: 1_767_596_400,
  package_uuid: "0f1e2d3c-4b5a-8f6e-9d7c-8b9a0f1e2d3c",
  entitlements: ["PRO_ROLES"],
  package: { bytes: 400, sha256: "ab".repeat(32) },
}
const indexOf = (...roles: readonly unknown[]): string => JSON.stringify({ serial: 7, issued_unix: 1_767_596_400, roles })
const problemOf = (text: string): string => {
  const read = readSubscriptionIndex(text)
  return Result.isFailure(read) ? read.failure : "(no problem)"
}

describe("an index", () => {
  const hex = (length: number) =>
    fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length })
  const date = fc.integer({ min: 0, max: 4_102_444_800 }).map((s) => new Date(s * 1000))
  const role = fc.record({
    role: fc.stringMatching(/^[a-z_][a-z0-9_-]{0,12}(\.[a-z0-9_-]{1,8}){0,2}$/u),
    version: fc.tuple(fc.nat(), fc.nat(), fc.nat()).map((numbers) => numbers.join(".")),
    description: fc.stringMatching(/^[A-Za-z][A-Za-z ,.]{0,40}$/u),
    fileCount: fc.integer({ min: 1, max: 1000 }),
    lastModified: date,
    packageId: hex(32).map((d) => d.replace(/^(.{8})(.{4})(.{4})(.{4})/u, "$1-$2-$3-$4-") as PackageId),
    entitlements,
    package: fc.record({ bytes: fc.integer({ min: 1, max: 1_000_000 }), sha256: hex(64) }),
  })
  const index: fc.Arbitrary<SubscriptionIndex> = fc.record({
    serial: fc.integer({ min: 1 }),
    issuedAt: date,
    roles: fc
      .uniqueArray(role, { selector: (r) => r.role, maxLength: 6 })
      .map((roles) => roles.toSorted((a, b) => (a.role < b.role ? -1 : 1))),
  })

  test("reads back as it was written", () => {
    fc.assert(
      fc.property(index, (given) => {
        expect(readSubscriptionIndex(writeSubscriptionIndex(given))).toEqual(Result.succeed(given))
      }),
    )
  })

  test("lists its roles by name", () => {
    const second = { ...sample, role: "aaa", package_uuid: "1f1e2d3c-4b5a-8f6e-9d7c-8b9a0f1e2d3c" }
    const read = Result.getOrThrow(readSubscriptionIndex(indexOf(sample, second)))
    expect(read.roles.map((r) => r.role)).toEqual(["aaa", "acme_web"])
  })

  test.each([
    ["no JSON", "{", "it is not valid JSON"],
    ["no object", "[]", "Expected"],
    ["no serial", JSON.stringify({ issued_unix: 1, roles: [] }), "serial"],
    ["a serial that is not a whole number", JSON.stringify({ serial: 1.5, issued_unix: 1, roles: [] }), "serial"],
    ["a name that climbs", indexOf({ ...sample, role: "../../etc" }), "role name"],
    ["a name that is an option", indexOf({ ...sample, role: "-rf" }), "role name"],
    ["a version of two numbers", indexOf({ ...sample, version: "1.2" }), "three numbers"],
    ["a version with a mark", indexOf({ ...sample, version: "1.2.3-rc1" }), "three numbers"],
    ["a blank description", indexOf({ ...sample, description: " " }), "one line"],
    ["a description that moves a terminal's cursor", indexOf({ ...sample, description: "\u001b[2Jgone" }), "one line"],
    ["a description with a NUL", indexOf({ ...sample, description: "a\u0000b" }), "one line"],
    ["half a surrogate pair", indexOf({ ...sample, description: "\ud800" }), "one line"],
    ["no files", indexOf({ ...sample, file_count: 0 }), "file_count"],
    ["a time as text", indexOf({ ...sample, last_modified_unix: "1767596400" }), "last_modified_unix"],
    ["a time before 1970", indexOf({ ...sample, last_modified_unix: -1 }), "last_modified_unix"],
    ["no UUID", indexOf({ ...sample, package_uuid: "../0f1e2d3c" }), "UUID"],
    ["no entitlement", indexOf({ ...sample, entitlements: [] }), "entitlements"],
    [
      "an entitlement that would part in two",
      indexOf({ ...sample, entitlements: ["PRO_ROLES,ENTERPRISE_ROLES"] }),
      "entitlement",
    ],
    ["a digest that is none", indexOf({ ...sample, package: { bytes: 1, sha256: "xyz" } }), "hexadecimal"],
    ["a package of any size", indexOf({ ...sample, package: { ...sample.package, bytes: 1e15 } }), "bytes"],
    [
      "a name twice",
      indexOf(sample, { ...sample, role: "ACME_web", package_uuid: "1f1e2d3c-4b5a-8f6e-9d7c-8b9a0f1e2d3c" }),
      "twice",
    ],
    ["a package twice", indexOf(sample, { ...sample, role: "other" }), "twice"],
  ])("with %s is refused, saying so", (_, text, expected) => {
    expect(problemOf(text)).toContain(expected)
  })

  test("keeps members called __proto__ from meaning anything", () => {
    const text = indexOf(sample).replace('"serial"', '"__proto__":{"serial":1},"serial"')
    expect(Result.getOrThrow(readSubscriptionIndex(text)).serial).toBe(7)
    expect(problemOf('{"__proto__":{"serial":1,"issued_unix":1,"roles":[]}}')).toContain("serial")
  })

  test("of any text is read or refused, and never throws", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readSubscriptionIndex(text)))
  })

  test("says what is wrong on one line of bounded length", () => {
    const problem = problemOf(indexOf(...Array.from({ length: 500 }, () => ({ role: "x\n".repeat(1000) }))))
    expect(problem.length).toBeLessThanOrEqual(400)
    expect(problem).not.toContain("\n")
  })
})
