import { VpnKeys } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { generateKeyPairSync } from "node:crypto"

/** A JWK has the 32 bytes in base64url, WireGuard in base64. */
const base64 = (text: string | undefined): string => Buffer.from(text ?? "", "base64url").toString("base64")

/** Key pairs as `wg genkey` and `wg pubkey` make them. */
export const vpnKeysLayer: Layer.Layer<VpnKeys> = Layer.succeed(VpnKeys, {
  make: Effect.sync(() => {
    const { d, x } = generateKeyPairSync("x25519").privateKey.export({ format: "jwk" })
    return { privateKey: Redacted.make(base64(d), { label: "VPN key" }), publicKey: base64(x) }
  }),
})
