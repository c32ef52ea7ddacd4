import { IdentityProvider, VpnServer } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, test } from "vitest"
import { bindProvider } from "../src/compose/oidc.ts"
import { bindVpn } from "../src/compose/vpn.ts"
import { loadConfig } from "../src/config/config.ts"

const config = loadConfig({ file: undefined, environment: {} })

test("what needs a provider or a VPN server without one names the setting for it", async () => {
  const asked = Effect.flip(Effect.flatMap(IdentityProvider, ({ describe }) => describe))
  const observed = Effect.flip(Effect.flatMap(VpnServer, ({ observe }) => observe))
  expect((await Effect.runPromise(Effect.provide(asked, bindProvider(config)))).hint).toBe(
    "Set oidc_issuer and what belongs to it.",
  )
  expect((await Effect.runPromise(Effect.provide(observed, bindVpn(config)))).hint).toBe("Set wireguard_server.")
})
