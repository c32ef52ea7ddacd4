import { isVpnKey } from "@rangewright/domain"
import { VpnKeys } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { execFileSync, spawnSync } from "node:child_process"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { vpnKeysLayer } from "../src/index.ts"

const make = () =>
  Effect.runSync(
    Effect.provide(
      VpnKeys.use(({ make }) => make),
      vpnKeysLayer,
    ),
  )
const isMissing = spawnSync("wg", ["--version"]).error !== undefined

describe("keys for the VPN", () => {
  it("are pairs in WireGuard's form, each time others, and are not shown by accident", () => {
    const [one, two] = [make(), make()]
    for (const { privateKey, publicKey } of [one, two])
      expect([isVpnKey(Redacted.value(privateKey)), isVpnKey(publicKey)]).toEqual([true, true])
    expect(one.publicKey).not.toBe(two.publicKey)
    expect(`${JSON.stringify(one)} ${inspect(one)}`).not.toContain(Redacted.value(one.privateKey))
  })

  it.skipIf(isMissing)(`have the public key that WireGuard finds${isMissing ? " (skipped: wg is missing)" : ""}`, () => {
    const { privateKey, publicKey } = make()
    expect(
      execFileSync("wg", ["pubkey"], { input: Redacted.value(privateKey) })
        .toString()
        .trim(),
    ).toBe(publicKey)
  })
})
