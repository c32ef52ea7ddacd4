import { CodeRefused, ProviderFault, type ProviderReason } from "@rangewright/ports"
import * as oauth from "oauth4webapi"

/** Why the provider cannot be used. The message is for operators, and includes only short words from the provider. */
export class Trouble extends Error {
  readonly reason: ProviderReason
  constructor(reason: ProviderReason, message: string) {
    super(message)
    this.reason = reason
  }
}

const claims: Readonly<Record<string, string>> = {
  aud: "it is for another client",
  azp: "it is for another client",
  exp: "it has expired",
  iat: "it was issued in the future",
  nbf: "it is not valid yet",
  iss: "it is from another issuer",
}

const failures: Readonly<Record<string, string>> = {
  [oauth.JSON_ATTRIBUTE_COMPARISON]: "it answers as another provider: compare oidc_issuer with the issuer in its metadata",
  [oauth.JWT_TIMESTAMP_CHECK]: "its ID token has expired, or the clocks of both hosts differ",
  [oauth.KEY_SELECTION]: "its ID token is signed with a key that it does not publish",
  [oauth.UNSUPPORTED_OPERATION]: "its ID token is signed by a method that is not accepted; use RS256 or ES256",
  [oauth.RESPONSE_IS_NOT_JSON]: "its answer is not JSON",
  [oauth.PARSE_ERROR]: "its answer is not JSON",
  [oauth.MISSING_SERVER_METADATA]: "its metadata lacks a required address",
  [oauth.INVALID_SERVER_METADATA]: "its metadata contains an invalid address",
  [oauth.HTTP_REQUEST_FORBIDDEN]: "its metadata contains an address without TLS",
  [oauth.REQUEST_PROTOCOL_FORBIDDEN]: "its metadata contains an address that is neither https nor http",
}

/** The provider's error code, a word of RFC 6749. */
const wordOf = (text: string): string => (/^[a-z_]{1,40}$/u.test(text) ? text : "an error")

const claimOf = ({ cause }: Error): string | undefined => {
  const claim = typeof cause === "object" && cause !== null && "claim" in cause ? cause.claim : undefined
  return typeof claim === "string" ? claim : undefined
}

const proves = "Compare oidc_issuer, oidc_client_id and oidc_client_secret with the client's registration at the provider."

/**
 * The fault for a failure of the library, the network or our own checks. The library's errors contain responses, so none of their text is
 * shown.
 */
export const faultOf = (doing: string, cause: unknown): ProviderFault | CodeRefused => {
  const broken = (detail: string, hint?: string) =>
    new ProviderFault({ doing, reason: "broken", detail, ...(hint === undefined ? {} : { hint }) })
  if (cause instanceof Trouble) return new ProviderFault({ doing, reason: cause.reason, detail: cause.message })
  if (cause instanceof oauth.ResponseBodyError) {
    if (cause.error === "invalid_grant")
      return new CodeRefused({ because: "the provider does not accept its code, or no longer does" })
    return broken(`the provider refuses this service (${wordOf(cause.error)})`, proves)
  }
  if (cause instanceof oauth.WWWAuthenticateChallengeError) return broken("the provider refuses this service", proves)
  if (!(cause instanceof Error)) return broken("its answer cannot be used")
  const claim = claimOf(cause)
  if (claim === "nonce") return new CodeRefused({ because: "it belongs to another sign-in" })
  if (claim !== undefined && claim in claims) return broken(`the provider's ID token is not valid: ${claims[claim]}`, proves)
  const { code } = cause as NodeJS.ErrnoException
  return broken(`the provider cannot be trusted: ${failures[code ?? ""] ?? "its answer does not conform to OpenID Connect"}`)
}
