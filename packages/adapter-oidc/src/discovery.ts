import * as oauth from "oauth4webapi"
import type { guardedFetch } from "./guarded-fetch.ts"
import { isOnThisHost } from "./options.ts"
import { Trouble } from "./trouble.ts"

const minute = 60_000
/** A provider's metadata is requested again after this time, and used for up to `usable` when the provider does not answer. */
const fresh = 60 * minute
const usable = 24 * 60 * minute
/** Pause after a failure: anybody may start to sign in, and must not cause requests at will. */
const pause = 5_000

type Fetch = ReturnType<typeof guardedFetch>

/** Browsers are sent there, so it must be a page of the provider, over TLS. */
const checkPage = ({ authorization_endpoint: page }: oauth.AuthorizationServer, issuer: URL): void => {
  const url = URL.parse(page ?? "")
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isOnThisHost(url) && isOnThisHost(issuer))
  if (!isSafe || url?.username !== "" || url.password !== "")
    throw new Trouble("broken", "the provider's metadata has no sign-in page over TLS")
}

/** The provider's metadata, requested on demand. */
export const discovery = (issuer: URL, fetch: Fetch, timeoutMillis: number): (() => Promise<oauth.AuthorizationServer>) => {
  let known: { readonly server: oauth.AuthorizationServer; readonly at: number } | undefined
  let failed: { readonly cause: unknown; readonly at: number } | undefined
  let asking: Promise<oauth.AuthorizationServer> | undefined
  const age = (at: number) => performance.now() - at

  const ask = async (): Promise<oauth.AuthorizationServer> => {
    try {
      const answer = await oauth.discoveryRequest(issuer, {
        [oauth.customFetch]: fetch,
        [oauth.allowInsecureRequests]: isOnThisHost(issuer),
        signal: AbortSignal.timeout(timeoutMillis),
      })
      if (answer.status !== 200)
        throw new Trouble("broken", `${issuer.host} answers with status ${answer.status} for its configuration`)
      const server = await oauth.processDiscoveryResponse(issuer, answer)
      checkPage(server, issuer)
      known = { server, at: performance.now() }
      failed = undefined
      return server
    } catch (cause) {
      failed = { cause, at: performance.now() }
      if (known !== undefined && age(known.at) < usable) return known.server
      throw cause
    } finally {
      asking = undefined
    }
  }
  return async () => {
    if (known !== undefined && age(known.at) < fresh) return known.server
    if (failed !== undefined && age(failed.at) < pause) {
      if (known !== undefined && age(known.at) < usable) return known.server
      throw failed.cause
    }
    return (asking ??= ask())
  }
}
