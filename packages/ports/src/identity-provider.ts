import { defineFault, type FaultKind, type ProvenPerson } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Why a provider of identities is of no use just now. */
export type ProviderReason =
  | "unavailable"
  | "timeout"
  /** It answers, and the answer cannot be relied on. */
  | "broken"

const providerKinds: Record<ProviderReason, FaultKind> = { unavailable: "unavailable", timeout: "timeout", broken: "unavailable" }

/** The provider of identities cannot be asked, or its answer proves nothing. */
export class ProviderFault extends defineFault(
  "ProviderFault",
  (f: { readonly doing: string; readonly reason: ProviderReason; readonly detail: string; readonly hint?: string }) =>
    providerKinds[f.reason],
  (f) => ({ message: `Cannot ${f.doing}: ${f.detail}`, ...(f.hint === undefined ? {} : { hint: f.hint }) }),
) {}

/** What was sent does not come from a sign-in that ended well at the provider, or comes from another one. */
export class CodeRefused extends defineFault("CodeRefused", "unauthenticated", (f: { readonly because: string }) => ({
  message: `Cannot sign in with the provider's answer: ${f.because}`,
  hint: "Sign in again from the beginning.",
})) {}

/** Texts that tie an answer of the provider to the sign-in that asked for it. `verifier` is secret until the end. */
export interface SignInProof {
  /** PKCE: 43 to 128 characters of A-Z a-z 0-9 - . _ ~ */
  readonly verifier: string
  readonly nonce: string
}

/** A provider of identities: OpenID Connect, authorization code with PKCE. It is asked within seconds, and believed in nothing but identities. */
export class IdentityProvider extends Context.Service<
  IdentityProvider,
  {
    /** Where a browser goes to sign in, and the challenge that is in it. Without `redirectUrl` the address ends with `redirect_uri=`, for the caller to add it. */
    readonly authorization: (
      asked: SignInProof & { readonly state: string; readonly redirectUrl: string | undefined },
    ) => Effect.Effect<{ readonly url: string; readonly challenge: string }, ProviderFault>
    /**
     * Who signed in. `wanted`: claims that are asked for beside what the provider gives anyway. `whose`: who waits; nobody takes all turns.
     * `issuer`: which provider the browser says that it comes from, where it does.
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
    /** For the doctor: what the provider says of itself, in a line. */
    readonly describe: Effect.Effect<string, ProviderFault>
  }
>()("rangewright/IdentityProvider") {}
