import type { ProvenPerson } from "@rangewright/domain"
import type { IdentityProvider } from "@rangewright/ports"
import * as oauth from "oauth4webapi"
import type { guardedFetch } from "./guarded-fetch.ts"
import { isOnThisHost, type OidcOptions } from "./options.ts"
import { Trouble } from "./trouble.ts"

type Answer = Parameters<IdentityProvider["Service"]["redeem"]>[0]

/** The client authentication that the provider supports, or if it does not say, the one that it must support (RFC 6749, 2.3.1). */
const clientAuth = ({ clientSecret }: OidcOptions, server: oauth.AuthorizationServer): oauth.ClientAuth => {
  if (clientSecret === undefined) return oauth.None()
  const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
  return !methods.includes("client_secret_basic") && methods.includes("client_secret_post")
    ? oauth.ClientSecretPost(clientSecret)
    : oauth.ClientSecretBasic(clientSecret)
}

type Claims = Readonly<Record<string, unknown>>

/** Merges both sets of claims. The address and whether it is verified are taken from the same one, as they belong together. */
const together = (token: Claims, more: Claims): Claims => {
  const { email, email_verified: verified } = token
  const address = email !== undefined && verified !== undefined ? token : more
  return { ...more, ...token, email: address["email"], email_verified: address["email_verified"] }
}

/** At most 255 characters of ASCII (OpenID Connect Core, 2). */
const isSubject = (text: string): boolean => /^[\x20-\x7e]{1,255}$/u.test(text)

/** Exchanges a code, and verifies everything in the response: signature, issuer, audience, time and nonce. */
export const redeem = async (
  options: OidcOptions,
  issuer: URL,
  server: oauth.AuthorizationServer,
  fetch: ReturnType<typeof guardedFetch>,
  { code, verifier, nonce, issuer: from, redirectUrl, wanted }: Answer,
  signal: AbortSignal,
): Promise<ProvenPerson> => {
  const client: oauth.Client = { client_id: options.clientId, [oauth.clockTolerance]: 30 }
  const how = { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: isOnThisHost(issuer), signal }
  const parameters = new URLSearchParams({ code, iss: from ?? server.issuer })
  const callback = oauth.validateAuthResponse(server, client, parameters, oauth.skipStateCheck)
  const auth = clientAuth(options, server)
  const answer = await oauth.authorizationCodeGrantRequest(server, client, auth, callback, redirectUrl, verifier, how)
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
    expectedNonce: nonce,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(server, answer, how)
  const token = oauth.getValidatedIdTokenClaims(tokens)
  if (token === undefined || !isSubject(token.sub))
    throw new Trouble("broken", "the provider's ID token has no valid subject (sub)")
  const lacks = [...wanted, "email", "email_verified"].some((claim) => token[claim] === undefined)
  const more = lacks && server.userinfo_endpoint !== undefined ? await userInfo() : {}
  return { issuer: issuer.href, subject: token.sub, claims: together(token, more) }

  async function userInfo(): Promise<Claims> {
    const told = await oauth.userInfoRequest(server, client, tokens.access_token, how)
    return oauth.processUserInfoResponse(server, client, token?.sub ?? "", told)
  }
}
