import type { LicenseTerms } from "@rangewright/domain"
import { LicenseProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { TestClock } from "effect/testing"
import { mkdtempSync, rmSync } from "node:fs"
import { readdir, unlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { issueLicense } from "../src/license/issue.ts"
import { signedLicenseLayer } from "../src/license/layer.ts"
import { newSigningKey } from "../src/trust/keys.ts"

const key = newSigningKey()
const terms: LicenseTerms = {
  tier: "enterprise",
  entitlements: [],
  licensedTo: "Example Training",
  issuedAt: new Date("2026-01-01T00:00:00Z"),
  expiresAt: new Date("2027-01-01T00:00:00Z"),
  hosts: ["lab.example"],
}
const everything = ["ENTERPRISE_PLUGIN", "PRO_ROLES", "ENTERPRISE_ROLES"]

/** What a test makes go wrong on purpose is logged. */
const quietTestClock = Layer.merge(TestClock.layer(), Logger.layer([]))

let folder = ""
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "rangewright-license-"))))
afterEach(() => rmSync(folder, { recursive: true }))

const file = () => join(folder, "license.json")
const install = (text: string) => writeFile(file(), text)

/** The licence that a process sees at these moments, one after the other. */
const seenAt = (
  moments: readonly string[],
  more: { readonly hosts?: readonly string[]; readonly keys?: readonly string[] } = {},
) => {
  const layer = signedLicenseLayer({
    file: file(),
    keys: [key.public.text],
    hosts: ["lab.example"],
    state: join(folder, "state"),
    ...more,
  })
  const program = Effect.gen(function* () {
    const provider = yield* LicenseProvider
    return yield* Effect.forEach(moments, (moment) => Effect.andThen(TestClock.setTime(Date.parse(moment)), provider.current))
  })
  return Effect.runPromise(program.pipe(Effect.provide(layer), Effect.provide(quietTestClock)))
}
const seen = async (moment: string, more = {}) => (await seenAt([moment], more))[0]

describe("a signed licence", () => {
  test("is in force as it says, without any connection", async () => {
    await install(issueLicense(terms, key))
    expect(await seen("2026-06-01T00:00:00Z")).toEqual({
      entitlements: everything,
      licensedTo: "Example Training",
      active: true,
      message: "enterprise licence",
      expiresAt: terms.expiresAt,
    })
  })

  test("ends when it expires, while the service runs", async () => {
    await install(issueLicense(terms, key))
    const [before, after] = await seenAt(["2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"])
    expect([before?.active, after?.active, after?.entitlements]).toEqual([true, false, []])
    expect(after?.message).toContain("expired")
  })

  test("is renewed by a new file, without a restart", async () => {
    await install(issueLicense({ ...terms, tier: "professional" }, key))
    const layer = signedLicenseLayer({ file: file(), keys: [key.public.text], hosts: ["lab.example"], state: folder })
    const program = Effect.gen(function* () {
      const provider = yield* LicenseProvider
      yield* TestClock.setTime(Date.parse("2026-06-01T00:00:00Z"))
      const first = yield* provider.current
      yield* Effect.promise(() => install(issueLicense(terms, key)))
      return [first, yield* provider.current].map(({ message }) => message)
    })
    expect(await Effect.runPromise(program.pipe(Effect.provide(layer), Effect.provide(quietTestClock)))).toEqual([
      "professional licence",
      "enterprise licence",
    ])
  })

  test("for another host is not in force", async () => {
    await install(issueLicense(terms, key))
    const license = await seen("2026-06-01T00:00:00Z", { hosts: ["other.example"] })
    expect([license?.active, license?.entitlements, license?.message]).toEqual([
      false,
      [],
      expect.stringContaining("another host"),
    ])
  })

  test("is not in force while the clock is set back, in this process and in the next, and is again when it is set right", async () => {
    await install(issueLicense(terms, key))
    const here = await seenAt(["2026-06-01T00:00:00Z", "2026-05-01T00:00:00Z", "2026-06-01T00:00:01Z"])
    expect(here.map(({ active }) => active)).toEqual([true, false, true])
    const next = await seenAt(["2026-05-01T00:00:00Z", "2026-06-01T00:00:02Z"])
    expect(next.map(({ active }) => active)).toEqual([false, true])
    expect(next[0]?.message).toContain("clock was set back")
  })

  test("issued anew is in force although the clock once was far ahead", async () => {
    await install(issueLicense({ ...terms, expiresAt: undefined }, key))
    const ahead = await seenAt(["2090-01-01T00:00:00Z", "2026-06-01T00:00:00Z"])
    expect(ahead.map(({ active }) => active)).toEqual([true, false])
    await install(issueLicense({ ...terms, issuedAt: new Date("2026-05-31T00:00:00Z") }, key))
    expect((await seen("2026-06-01T00:00:00Z"))?.active).toBe(true)
  })

  test("goes on when the latest time cannot be kept, or is damaged", async () => {
    await install(issueLicense(terms, key))
    await writeFile(join(folder, "state"), "a file where the folder should be")
    expect((await seen("2026-06-01T00:00:00Z"))?.active).toBe(true)
    await unlink(join(folder, "state"))
    await seen("2026-06-01T00:00:00Z")
    for (const name of await readdir(join(folder, "state"))) await writeFile(join(folder, "state", name), "{")
    expect((await seen("2026-05-01T00:00:00Z"))?.active).toBe(true)
  })

  test.each([
    ["missing", undefined, "cannot be read"],
    ["empty", "", "not a signed document"],
    ["signed by somebody else", issueLicense(terms, newSigningKey()), "none of the trusted keys"],
    ["changed", issueLicense(terms, key).replace(/"payload":"./u, '"payload":"A'), "none of the trusted keys"],
    ["larger than any licence", " ".repeat(300_000), "not a licence file"],
  ])("that is %s includes nothing and says why", async (_, text, because) => {
    if (text !== undefined) await install(text)
    const license = await seen("2026-06-01T00:00:00Z")
    expect(license).toMatchObject({ active: false, entitlements: [], licensedTo: "", expiresAt: undefined })
    expect(license?.message).toContain(because)
  })

  test("cannot be checked with keys that are none", async () => {
    for (const keys of [[], ["ed25519:AA"]])
      await expect(seen("2026-06-01T00:00:00Z", { keys })).rejects.toMatchObject({ _tag: "SubscriptionFault" })
  })
})

test("what cannot be read is told without a path of this host", async () => {
  const license = await seen("2026-06-01T00:00:00Z")
  expect(license?.message).toContain("the licence file cannot be read")
  expect(license?.message).not.toContain(folder)
})
