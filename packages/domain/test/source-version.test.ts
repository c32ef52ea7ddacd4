import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { copyState } from "../src/catalog/index.ts"
import { compareVersions, parseVersion, satisfiesPin, type Version } from "../src/source/index.ts"

const digits = fc.oneof(fc.nat({ max: 20 }).map(String), fc.bigInt({ min: 0n, max: 10n ** 40n }).map(String))
const identifier = fc.oneof(digits, fc.stringMatching(/^[a-c-][0-9a-c-]{0,3}$/u))
const prerelease = fc.array(identifier, { minLength: 1, maxLength: 3 }).map((parts) => `-${parts.join(".")}`)
const version = fc.oneof(
  digits,
  fc.tuple(digits, digits).map((parts) => parts.join(".")),
  fc
    .tuple(fc.tuple(digits, digits, digits), fc.option(prerelease, { nil: "" }), fc.constantFrom("", "+b7", "+0.01"))
    .map(([parts, before, build]) => parts.join(".") + before + build),
)
const parsed = version.map((text) => parseVersion(text)).filter((found): found is Version => found !== undefined)
const anyText = fc.oneof(version, fc.constantFrom("main", "*", "1.0.0.0", "01.2", "1.2-rc", ">=1,<2", ""), fc.string())

describe("the state of a copy against a pin", () => {
  test.each([
    ["1.2.0", undefined, "installed"],
    [undefined, "1.0.0", "installed"],
    ["7.4.4", "7.4.4", "installed"],
    ["7.4.4", "v7.4.4", "installed"],
    ["7.4.4", "==7.4.4", "installed"],
    ["7.4", "7.4.0", "installed"],
    ["7.4.5", "7.4.4", "upgrade_available"],
    ["1.3.0", ">=1.2.0", "installed"],
    ["1.3.0", ">= 0.9", "installed"],
    ["1.3.0", "!=1.2.0", "installed"],
    ["1.3.0", "<2", "installed"],
    ["1.1.9", ">=1.2.0", "upgrade_available"],
    ["1.2.0-rc.1", ">=1.2.0", "upgrade_available"],
    ["1.2.0+b7", "1.2.0", "installed"],
    ["1.5.0", ">=1.0.0,<2.0.0", "upgrade_available"],
    ["1.0.0", "*", "upgrade_available"],
    ["main", "main", "installed"],
    ["main", "==main", "installed"],
    ["1.0.0", "main", "upgrade_available"],
    ["2024.01.1", "2024.1.1", "upgrade_available"],
    ["1.10.0", ">1.9.0", "installed"],
    ["", "1.0.0", "installed"],
  ] as const)("%s against %s: %s", (installed, pin, state) => {
    expect(copyState(installed, pin)).toBe(state)
  })

  test("a copy of unknown version, no pin, and the same text are never an upgrade", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect([copyState(undefined, text), copyState(text, undefined), copyState(text, text)]).toEqual([
          "installed",
          "installed",
          "installed",
        ])
      }),
    )
  })
})

describe("versions", () => {
  test.each([
    "",
    "v",
    "vv1",
    "1.",
    ".1",
    "01",
    "1.2.3.4",
    "1-rc",
    "1.2+b",
    "1.2.3-",
    "1.2.3-01",
    "1.2.3-a..b",
    "1.2.3+",
    "1.2.3+a..b",
    "1 ",
    "١.0.0",
  ])("%j is none", (text) => {
    expect(parseVersion(text)).toBeUndefined()
  })

  test("are ordered as the standard's own example says", () => {
    const ordered = [
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
    ]
    const sorted = ordered.toReversed().toSorted((a, b) => compareVersions(parseVersion(a)!, parseVersion(b)!))
    expect(sorted).toEqual(ordered)
  })

  test("each is equal to itself, with or without a v, whatever its build", () => {
    fc.assert(
      fc.property(version, (text) => {
        const one = parseVersion(text)!
        expect(compareVersions(one, parseVersion(`v${text}`)!)).toBe(0)
        expect(compareVersions(one, parseVersion(text.replace(/\+.*$/u, ""))!)).toBe(0)
      }),
    )
  })

  test("have one order: the other way round it is the other way round, and it is transitive", () => {
    fc.assert(
      fc.property(parsed, parsed, parsed, (a, b, c) => {
        expect(Math.sign(compareVersions(a, b)) + Math.sign(compareVersions(b, a))).toBe(0)
        const [low, middle, high] = [a, b, c].toSorted(compareVersions) as [Version, Version, Version]
        expect(compareVersions(low, middle)).toBeLessThanOrEqual(0)
        expect(compareVersions(middle, high)).toBeLessThanOrEqual(0)
        expect(compareVersions(low, high)).toBeLessThanOrEqual(0)
      }),
    )
  })

  test("numbers are compared as numbers of any size, and parts that are not written are zero", () => {
    const natural = fc.bigInt({ min: 0n, max: 10n ** 60n })
    fc.assert(
      fc.property(natural, natural, natural, (major, minor, other) => {
        const [a, b] = [parseVersion(`${major}.${minor}`)!, parseVersion(`${major}.${other}.0`)!]
        expect(Math.sign(compareVersions(a, b))).toBe(minor < other ? -1 : minor > other ? 1 : 0)
      }),
    )
  })

  test("a pre-release comes before its release and after every earlier one", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), prerelease, (major, minor, before) => {
        const early = parseVersion(`${major}.${minor}.1${before}`)
        fc.pre(early !== undefined)
        expect(compareVersions(early!, parseVersion(`${major}.${minor}.1`)!)).toBeLessThan(0)
        expect(compareVersions(early!, parseVersion(`${major}.${minor}.0`)!)).toBeGreaterThan(0)
      }),
    )
  })
})

describe("pins", () => {
  test("of two versions, each operator and its opposite never agree", () => {
    fc.assert(
      fc.property(version, version, (have, want) => {
        for (const [operator, opposite] of [
          ["==", "!="],
          [">=", "<"],
          ["<=", ">"],
        ] as const)
          expect(satisfiesPin(have, operator + want)).toBe(!satisfiesPin(have, opposite + want))
        expect(satisfiesPin(have, `>=${want}`) && satisfiesPin(have, `<=${want}`)).toBe(satisfiesPin(have, want))
      }),
    )
  })

  test("what is no version fits nothing but its own text", () => {
    fc.assert(
      fc.property(anyText, anyText, fc.constantFrom(">=", "<=", "!=", ">", "<"), (have, want, operator) => {
        fc.pre(parseVersion(have) === undefined || parseVersion(want.trim()) === undefined)
        fc.pre(!/^[<>=!]/u.test(want))
        expect(satisfiesPin(have, `==${want}`)).toBe(have === want.trim())
        expect(satisfiesPin(have, operator + want)).toBe(false)
      }),
    )
  })
})
