import { SecretStore } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Seals nothing. */
export const plainSecrets = Layer.succeed(SecretStore, {
  seal: (plain) => plain,
  open: (sealed) => Effect.succeed(sealed),
})
