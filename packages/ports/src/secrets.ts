import type { UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { SealBroken } from "./faults.ts"

/** Hashes API keys: keyed SHA-256, hex. */
export class CredentialHasher extends Context.Service<
  CredentialHasher,
  {
    readonly hash: (apiKey: string) => string
    /** Constant time. */
    readonly verify: (apiKey: string, hash: string) => boolean
    /**
     * Against a hash that an installation of the first generation made (bcrypt, of the whole key): takes milliseconds to seconds, by its
     * cost. False for any other hash.
     */
    readonly verifyFirstGeneration: (apiKey: string, hash: string) => Effect.Effect<boolean>
    /** Equality of two texts in constant time. */
    readonly equal: (a: string, b: string) => boolean
    /** Random text of letters and digits from a cryptographic source. */
    readonly randomText: (length: number, alphabet?: string) => string
    /** How a VNC viewer that knows the password answers a challenge of 16 bytes (RFC 6143, 7.2.2). Of the password, eight characters count. */
    readonly vncAnswer: (password: string, challenge: Uint8Array) => Uint8Array
  }
>()("rangewright/CredentialHasher") {}

/** Seals secrets at rest: authenticated encryption; `context` is bound in, so that a sealed text cannot be moved to another place. */
export class SecretStore extends Context.Service<
  SecretStore,
  {
    readonly seal: (plain: string, context: string) => string
    readonly open: (sealed: string, context: string) => Effect.Effect<string, SealBroken>
  }
>()("rangewright/SecretStore") {}

/** `auth`: to send with requests; `invite`: to set the user's password with, once. */
export type TokenUse = "auth" | "invite"
export const tokenDays = 7

/** Tokens of users: HS256, signed with the user's own key and the service's. */
export class TokenSigner extends Context.Service<
  TokenSigner,
  {
    /** Holds for `tokenDays`. */
    readonly sign: (
      subject: { readonly userId: UserId; readonly recordId: string; readonly tokenKey: string },
      use: TokenUse,
      now: Date,
    ) => Effect.Effect<string>
    /** Record id named by a token, before it is verified; undefined when it is no token of ours. */
    readonly subject: (token: string) => string | undefined
    /** Whether it is one for this use. */
    readonly verify: (token: string, tokenKey: string, use: TokenUse, now: Date) => Effect.Effect<boolean>
  }
>()("rangewright/TokenSigner") {}

/** Makes key pairs for WireGuard (X25519), in base64 as WireGuard writes keys. */
export class VpnKeys extends Context.Service<
  VpnKeys,
  {
    readonly make: Effect.Effect<{ readonly privateKey: Redacted.Redacted; readonly publicKey: string }>
  }
>()("rangewright/VpnKeys") {}
