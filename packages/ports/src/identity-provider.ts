import { defineFault, type FaultKind, type ProvenPerson } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Why the identity provider cannot be used. */
export type ProviderReason =
  | "unavailable"
  | "timeout"
  /** It answers, but the answer is invalid. */
  | "broken"

const providerKinds: Record<ProviderReason, FaultKind> = { unavailable: "unavailable", timeout: "timeout", broken: "unavailable" }

/** The identity provider cannot be reached, or its answer is not valid. */
export class ProviderFault extends defineFault(
  "ProviderFault",
  (f: { readonly doing: string; readonly reason: ProviderReason; readonly detail: string; readonly hint?: string }) =>
    providerKinds[f.reason],
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** The given code does not come from a successful sign-in at the provider, or belongs to another sign-in. */
export class CodeRefused extends defineFault("CodeRefused", "unauthenticated", (f: { readonly because: string }) => ({
  message: `Cannot sign in with the provider's answer: ${f.because}`,
  hint: "Sign in again from the beginning.",
})) {}

/** Values that tie the provider's answer to the sign-in that requested it. `verifier` is secret until the end. */
export interface SignInProof {
  /** PKCE: 43 to 128 characters of A-Z a-z 0-9 - . _ ~ */
  readonly verifier: string
  readonly nonce: string
}

/**
 * An identity provider: OpenID Connect, authorization code flow with PKCE. Calls take some seconds at most. It is trusted for identities
 * only.
 */
export class IdentityProvider extends Context.Service<
  IdentityProvider,
  {
    /**
     * The URL at which a browser signs in, and the PKCE challenge in it. Without `redirectUrl` the URL ends with `redirect_uri=`, and the
     * caller appends it.
     */
    readonly authorization: (
      asked: SignInProof & { readonly state: string; readonly redirectUrl: string | undefined },
    ) => Effect.Effect<{ readonly url: string; readonly challenge: string }, ProviderFault>
    /**
     * The person who signed in. `wanted`: claims to request beyond the default ones. `whose`: the waiting party, so that nobody can take
     * all slots. `issuer`: the provider that the browser reports, if it does.
     */
    readonly redeem: (
      answer: SignInProof & {
        readonly code: string
        readonly issuer: string | undefined
        readonly redirectUrl: string
        readonly wanted: readonly string[]
        readonly whose: string
      },
    ) => Effect.Effect<ProvenPerson, ProviderFault | CodeRefused>
    /** The provider's description of itself in one line, for `doctor`. */
    readonly describe: Effect.Effect<string, ProviderFault>
  }
>()("rangewright/IdentityProvider") {}
