import { SecretStore } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Seals nothing, but keeps to what a text is sealed for. */
export const plainSecrets = Layer.succeed(SecretStore, {
  seal: (plain, context) => JSON.stringify([context, plain]),
  open: (sealed, context) => {
    const [bound = "", plain = ""] = JSON.parse(sealed) as readonly string[]
    return bound === context ? Effect.succeed(plain) : Effect.die(`sealed for ${bound}`)
  },
})
