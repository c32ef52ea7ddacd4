import { IdentityProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { bindProvider } from "../compose/oidc.ts"
import type { Config } from "../config/config.ts"
import { type Finding, ok, warn } from "./finding.ts"

const what = "oidc_issuer"

/** Checks that the identity provider is reachable and its metadata matches the configuration. Does not sign in. */
export const checkProvider = (config: Config): Effect.Effect<readonly Finding[]> =>
  config.oidcIssuer === undefined
    ? Effect.succeed([])
    : IdentityProvider.use(({ describe }) => describe).pipe(
        Effect.map((text) => [ok(what, text)]),
        Effect.catch(({ message, hint }) =>
          Effect.succeed([
            warn(
              what,
              message,
              hint ?? "Check oidc_issuer and oidc_ca_file. Until then, people can sign in only with passwords and keys.",
            ),
          ]),
        ),
        Effect.provide(bindProvider(config)),
      )
