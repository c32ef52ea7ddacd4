import type { Dial, Resolve } from "@rangewright/host-tools"

/** Which provider, and how it is reached. */
export interface OidcOptions {
  /** URL of the provider, under which its `.well-known/openid-configuration` is: https, or http on this host. */
  readonly issuer: string
  readonly clientId: string
  /** Absent: a public client, which shows nothing but PKCE. Never told in a message. */
  readonly clientSecret?: string
  /** `openid` is among them. */
  readonly scopes: readonly string[]
  /** Certificates of authorities, PEM, in place of those that are known everywhere. */
  readonly ca?: string
  /** Whether other hosts than the issuer's may be connected to, which are public then. Default: yes. */
  readonly internet?: boolean
  /** Addresses that are never connected to for another host than the issuer's, beside all that this host has itself. */
  readonly never?: () => Promise<readonly string[]>
  /** Addresses of other hosts than the issuer's; the host's name servers where absent. */
  readonly resolve?: Resolve
  readonly dial?: Dial
  /** For everything that one sign-in asks of the provider. Default: 10 seconds. */
  readonly timeoutMillis?: number
}

export const timeoutOf = ({ timeoutMillis = 10_000 }: OidcOptions): number => timeoutMillis

/** Whether a provider may be spoken to without TLS: nobody is in between on the same host. */
export const isOnThisHost = (url: URL): boolean => /^(?:localhost|127\.[\d.]+|\[::1\])$/u.test(url.hostname)

/** The issuer's URL in one spelling; undefined: it is none. */
export const issuerUrl = (text: string): URL | undefined => {
  const url = URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return undefined
  return url.protocol === "https:" || (url.protocol === "http:" && isOnThisHost(url)) ? url : undefined
}
