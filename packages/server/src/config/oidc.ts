import { issuerUrl } from "@rangewright/adapter-oidc"
import type { SingleSignOn } from "@rangewright/application"
import { isDnsName, isThisHost } from "@rangewright/domain"
import type { Keys } from "./keys.ts"

/** The configuration keys for sign-in with an identity provider. */
export type OidcConfig = { readonly [K in keyof Keys & `oidc${string}`]: Keys[K]["fallback"] }

const anyDomain = "*"

/** An address of the service or a client to which browsers are sent with a code: over TLS, or on the browser's own host. */
const isReturnAddress = (text: string): boolean => {
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "") return false
  return url.protocol === "https:" || (url.protocol === "http:" && isThisHost(url.hostname))
}

/** Only an origin: the path is chosen by the service. */
const isOrigin = (text: string): boolean => isReturnAddress(text) && `${new URL(text).origin}/` === new URL(text).href

/** What is wrong with these keys, one line each. */
export const oidcProblems = (config: OidcConfig): readonly string[] => {
  const { oidcIssuer: issuer, oidcClientId: client, oidcPublicUrl: own } = config
  const needed = { oidc_issuer: issuer, oidc_client_id: client, oidc_public_url: own }
  const missing = Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []))
  if (missing.length === 3)
    return config.oidcClientSecret === undefined && config.oidcNewUsers === "refuse"
      ? []
      : ["oidc_issuer: needed with the other keys that begin with oidc_"]
  const { oidcDomains: domains } = config
  return [
    ...missing.map((name) => `${name}: oidc_issuer, oidc_client_id and oidc_public_url belong together`),
    ...(issuer === undefined || issuerUrl(issuer) !== undefined
      ? []
      : [`oidc_issuer: ${issuer} is not the https URL of a provider, such as https://login.example.org/realms/lab`]),
    ...(own === undefined || isOrigin(own)
      ? []
      : [
          `oidc_public_url: ${own} is not a URL at which browsers open the page: https, a host and a port, such as https://lab.example.org:8080`,
        ]),
    ...(config.oidcScopes.includes("openid") ? [] : ["oidc_scopes: openid must be among them"]),
    ...config.oidcRedirectUrls
      .filter((text) => !isReturnAddress(text))
      .map((text) => `oidc_redirect_urls: ${text} is neither an https URL nor one of the browser's own host`),
    ...domains
      .filter((text) => text !== anyDomain && !isDnsName(text))
      .map((text) => `oidc_domains: ${text} is not a domain such as example.org`),
    ...(config.oidcNewUsers === "create" && domains.length === 0
      ? ["oidc_domains: needed with oidc_new_users: create; `*` creates a user for everybody whom the provider lets in"]
      : []),
  ]
}

/** How people sign in with the provider; undefined when it is not configured. */
export const singleSignOnOf = (config: OidcConfig): SingleSignOn | undefined => {
  const { oidcIssuer: issuer, oidcPublicUrl: own } = config
  if (issuer === undefined || own === undefined) return undefined
  return {
    name: config.oidcName ?? new URL(issuer).hostname,
    origin: new URL(own).origin,
    redirectUrls: config.oidcRedirectUrls,
    claim: config.oidcUserClaim,
    domains: config.oidcDomains.includes(anyDomain) ? [] : config.oidcDomains.map((domain) => domain.toLowerCase()),
    makesUsers: config.oidcNewUsers === "create",
  }
}
