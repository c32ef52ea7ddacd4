import type { UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { SealBroken } from "./faults.ts"
import type { VncAnswer } from "./machine-console.ts"

/** Hashes API keys: keyed SHA-256, hex. */
export class CredentialHasher extends Context.Service<
  CredentialHasher,
  {
    readonly hash: (apiKey: string) => string
    /** Constant time. */
    readonly verify: (apiKey: string, hash: string) => boolean
    /**
     * Verifies against a bcrypt hash of the whole key, made by an installation of the first generation: takes milliseconds to seconds,
     * depending on its cost. False for any other hash.
     */
    readonly verifyFirstGeneration: (apiKey: string, hash: string) => Effect.Effect<boolean>
    /** Compares two texts; the time that it takes reveals nothing about either. */
    readonly equal: (a: string, b: string) => boolean
    /** Random text of letters and digits from a cryptographic source. */
    readonly randomText: (length: number, alphabet?: string) => string
    /**
     * The response of a VNC viewer with this password to a 16-byte challenge (RFC 6143, 7.2.2). Only the first eight characters of the
     * password count.
     */
    readonly vncAnswer: VncAnswer
  }
>()("rangewright/CredentialHasher") {}

/** Seals secrets at rest: authenticated encryption; `context` is bound in, so that a sealed text cannot be used in another place. */
export class SecretStore extends Context.Service<
  SecretStore,
  {
    readonly seal: (plain: string, context: string) => string
    readonly open: (sealed: string, context: string) => Effect.Effect<string, SealBroken>
  }
>()("rangewright/SecretStore") {}

/** `auth`: authenticates requests; `invite`: sets the user's password, once. */
export type TokenUse = "auth" | "invite"
export const tokenDays = 7

/** User tokens: HS256, signed with the user's own key and the service's. */
export class TokenSigner extends Context.Service<
  TokenSigner,
  {
    /** Valid for `tokenDays`. */
    readonly sign: (
      subject: { readonly userId: UserId; readonly recordId: string; readonly tokenKey: string },
      use: TokenUse,
      now: Date,
    ) => Effect.Effect<string>
    /** The record id in a token that is not verified yet; undefined if it is not one of our tokens. */
    readonly subject: (token: string) => string | undefined
    /** Whether the token is valid for this use. One that was signed more than an hour later than now is not: the clock was set back. */
    readonly verify: (token: string, tokenKey: string, use: TokenUse, now: Date) => Effect.Effect<boolean>
  }
>()("rangewright/TokenSigner") {}

/** Generates WireGuard key pairs (X25519), in base64 as WireGuard writes keys. */
export class VpnKeys extends Context.Service<
  VpnKeys,
  {
    readonly make: Effect.Effect<{ readonly privateKey: Redacted.Redacted; readonly publicKey: string }>
  }
>()("rangewright/VpnKeys") {}
