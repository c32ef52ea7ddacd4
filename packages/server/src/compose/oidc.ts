import { noProviderLayer } from "@rangewright/adapter-memory"
import { oidcLayer } from "@rangewright/adapter-oidc"
import type { IdentityProvider } from "@rangewright/ports"
import type * as Layer from "effect/Layer"
import type { Config } from "../config/config.ts"
import { readNamedFile } from "./named-file.ts"
import { toolOptions } from "./tools.ts"

/** The configured identity provider, if any. */
export const bindProvider = (config: Config): Layer.Layer<IdentityProvider> => {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcCaFile: ca } = config
  if (issuer === undefined || clientId === undefined) return noProviderLayer("Set oidc_issuer and what belongs to it.")
  return oidcLayer({
    issuer,
    clientId,
    scopes: config.oidcScopes,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(ca === undefined ? {} : { ca: readNamedFile("oidc_ca_file", ca) }),
    ...toolOptions(config),
  })
}
