import { VpnKeys } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const keyOf = (first: number, n: number): string => {
  const bytes = new Uint8Array(32).fill(first, 0, 1)
  new DataView(bytes.buffer).setUint32(28, n)
  return Buffer.from(bytes).toString("base64")
}

/** Keys in WireGuard's form that are no pairs: distinct, and the same each time. */
export const memoryVpnKeysLayer = (): Layer.Layer<VpnKeys> =>
  Layer.sync(VpnKeys, () => {
    let made = 0
    return {
      make: Effect.sync(() => {
        made += 1
        return { privateKey: Redacted.make(keyOf(1, made)), publicKey: keyOf(2, made) }
      }),
    }
  })
