import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  clockToleranceMs,
  entitlementsOf,
  judgeLicense,
  licenseOf,
  type LicenseTerms,
  readLicenseTerms,
  tiers,
  writeLicenseTerms,
} from "../src/index.ts"

const moment = fc.integer({ min: 1_000_000_000, max: 4_000_000_000 }).map((s) => new Date(s * 1000))
const host = fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/u)
const terms: fc.Arbitrary<LicenseTerms> = fc.record({
  tier: fc.constantFrom(...tiers),
  entitlements: fc.uniqueArray(fc.stringMatching(/^OWN_[A-Z]{1,5}$/u), { maxLength: 3 }),
  licensedTo: fc.stringMatching(/^[A-Za-z][A-Za-z ]{0,30}$/u),
  issuedAt: moment,
  expiresAt: fc.option(moment, { nil: undefined }),
  hosts: fc.uniqueArray(host, { maxLength: 3 }),
})
const known = fc.record({
  now: moment,
  seenUntil: fc.option(moment, { nil: undefined }),
  hosts: fc.uniqueArray(host, { maxLength: 3 }),
})

const base: LicenseTerms = {
  tier: "professional",
  entitlements: [],
  licensedTo: "Example Training",
  issuedAt: new Date("2026-01-01T00:00:00Z"),
  expiresAt: new Date("2027-01-01T00:00:00Z"),
  hosts: ["lab.example"],
}
const here = { now: new Date("2026-06-01T00:00:00Z"), seenUntil: undefined, hosts: ["lab.example"] }

describe("a licence", () => {
  test("includes what its tier does, on its host, until it expires", () => {
    expect(licenseOf(base, judgeLicense(base, here))).toEqual({
      entitlements: ["PRO_ROLES"],
      licensedTo: "Example Training",
      active: true,
      message: "professional licence",
      expiresAt: base.expiresAt,
    })
  })

  test("of the community tier is active and includes nothing", () => {
    const community = { ...base, tier: "community" } as const
    expect(licenseOf(community, judgeLicense(community, here))).toMatchObject({
      active: true,
      entitlements: [],
      message: "community licence",
    })
  })

  test("expires at its moment, not one before", () => {
    const at = (now: string) => judgeLicense(base, { ...here, now: new Date(now) }).state
    expect(at("2026-12-31T23:59:59.999Z")).toBe("valid")
    expect(at("2027-01-01T00:00:00.000Z")).toBe("expired")
  })

  test("stays expired when the clock goes back a little after it was seen to be over", () => {
    const seenUntil = new Date("2027-01-01T00:00:10Z")
    const now = new Date(seenUntil.getTime() - clockToleranceMs / 2)
    expect(judgeLicense(base, { ...here, now, seenUntil }).state).toBe("expired")
  })

  test("is not in force on another host, however the name is written here", () => {
    expect(judgeLicense(base, { ...here, hosts: ["other.example"] }).state).toBe("other-host")
    expect(judgeLicense(base, { ...here, hosts: [] }).state).toBe("other-host")
    expect(judgeLicense(base, { ...here, hosts: ["x", "LAB.example"] }).state).toBe("valid")
    expect(judgeLicense({ ...base, hosts: [] }, { ...here, hosts: ["any"] }).state).toBe("valid")
  })

  test("is not in force while the clock is behind what it has shown, or behind the day of issue", () => {
    const seenUntil = new Date("2026-06-02T00:00:00Z")
    expect(judgeLicense(base, { ...here, seenUntil })).toEqual({ state: "clock-set-back", was: seenUntil })
    expect(judgeLicense(base, { ...here, now: new Date("2025-01-01T00:00:00Z") }).state).toBe("clock-set-back")
  })

  test("says in its message which of these it is and what to do", () => {
    const messages = [
      licenseOf(base, judgeLicense(base, { ...here, now: new Date("2027-02-01T00:00:00Z") })).message,
      licenseOf(base, judgeLicense(base, { ...here, seenUntil: new Date("2026-06-02T00:00:00Z") })).message,
      licenseOf(base, judgeLicense(base, { ...here, hosts: [] })).message,
    ]
    expect(messages[0]).toMatch(/expired on 2027-01-01: renew it/u)
    expect(messages[1]).toMatch(/clock was set back .*2026-06-02T00:00:00.000Z.*set the clock/u)
    expect(messages[2]).toMatch(/is for another host, lab\.example: request one for this host/u)
    const many = { ...base, hosts: ["a.example", "b.example", "c.example", "d.example", "e.example"] }
    expect(licenseOf(many, { state: "other-host" }).message).toContain("other hosts, a.example, b.example, c.example and 2 more:")
  })

  test("is active exactly when it is valid, and then includes its tier, else nothing", () => {
    fc.assert(
      fc.property(terms, known, (given, about) => {
        const state = judgeLicense(given, about)
        const license = licenseOf(given, state)
        expect(license.active).toBe(state.state === "valid")
        expect(license.entitlements).toEqual(license.active ? [...entitlementsOf(given.tier), ...given.entitlements] : [])
      }),
    )
  })

  test("that has expired is never valid again, whatever the clock is set to", () => {
    fc.assert(
      fc.property(terms, moment, moment, (given, first, second) => {
        const before = { now: first, seenUntil: undefined, hosts: given.hosts }
        if (judgeLicense(given, before).state !== "expired") return
        expect(judgeLicense(given, { ...before, now: second, seenUntil: first }).state).not.toBe("valid")
      }),
    )
  })

  test("reads back as it was written", () => {
    fc.assert(
      fc.property(terms, (given) => {
        expect(readLicenseTerms(writeLicenseTerms(given))).toEqual(Result.succeed(given))
      }),
    )
  })

  test.each([
    ["an unknown tier", { tier: "platinum" }, "tier"],
    ["an entitlement that is none", { entitlements: ["my own"] }, "entitlement"],
    ["a time as text", { expires_unix: "never" }, "expires_unix"],
    ["a name of two lines", { licensed_to: "a\nb" }, "one line"],
  ])("with %s is refused, saying so", (_, wrong, expected) => {
    const read = readLicenseTerms(JSON.stringify({ tier: "community", licensed_to: "x", issued_unix: 1, ...wrong }))
    expect(Result.isFailure(read) ? read.failure : "").toContain(expected)
  })
})
