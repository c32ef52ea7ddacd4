import { CredentialHasher } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/**
 * Digits of a version: 128 bits of a keyed digest, so that nobody can make two texts with one version, or test guesses of a text against
 * it.
 */
const digits = 32

const versionWith = ({ hash }: CredentialHasher["Service"], text: string): string => hash(`version of ${text}`).slice(0, digits)

/** The version of a text, for its ETag. */
export const versionOf = (text: string): Effect.Effect<string, never, CredentialHasher> =>
  Effect.map(CredentialHasher, (hasher) => versionWith(hasher, text))

/**
 * Whether a stored text has one of the versions that an `If-Match` names (RFC 9110): `*` matches any, weak ones match none. Undefined: no
 * condition was sent.
 */
export const matching = (
  ifMatch: string | undefined,
): Effect.Effect<((stored: string) => boolean) | undefined, never, CredentialHasher> =>
  Effect.map(CredentialHasher, (hasher) => {
    if (ifMatch === undefined) return undefined
    const named = new Set(ifMatch.split(",").map((tag) => tag.trim()))
    return (stored) => named.has("*") || named.has(`"${versionWith(hasher, stored)}"`)
  })
