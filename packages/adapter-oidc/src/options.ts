import { isThisHost } from "@rangewright/domain"
import type { Dial, Resolve } from "@rangewright/host-tools"

/** The provider, and how it is reached. */
export interface OidcOptions {
  /** URL of the provider, where its `.well-known/openid-configuration` is: https, or http on this host. */
  readonly issuer: string
  readonly clientId: string
  /** When absent, the client is public and proves itself by PKCE only. Never shown in a message. */
  readonly clientSecret?: string
  /** Includes `openid`. */
  readonly scopes: readonly string[]
  /** CA certificates, PEM, that replace the default ones. */
  readonly ca?: string
  /** Whether hosts other than the issuer's may be connected to, provided they are public. Default: yes. */
  readonly internet?: boolean
  /** Addresses never connected to for hosts other than the issuer's, besides this host's own. */
  readonly never?: () => Promise<readonly string[]>
  /** Resolves hosts other than the issuer's; the host's name servers when absent. */
  readonly resolve?: Resolve
  readonly dial?: Dial
  /** Time limit for all requests of one sign-in. Default: 10 seconds. */
  readonly timeoutMillis?: number
}

export const timeoutOf = ({ timeoutMillis = 10_000 }: OidcOptions): number => timeoutMillis

/** Whether a provider may be used without TLS: nobody can intercept on the same host. */
export const isOnThisHost = (url: URL): boolean => isThisHost(url.hostname)

/** The issuer's URL, normalised; undefined when it is not valid. */
export const issuerUrl = (text: string): URL | undefined => {
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return undefined
  return url.protocol === "https:" || (url.protocol === "http:" && isOnThisHost(url)) ? url : undefined
}
