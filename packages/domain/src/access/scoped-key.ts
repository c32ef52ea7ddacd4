import type { RangeId, UserId } from "./ids.ts"

/** What a scoped key may be used for. */
export type KeyScope =
  /** What changes nothing. */
  | { readonly kind: "read" }
  /** What works on this one range. */
  | { readonly kind: "range"; readonly rangeId: RangeId }

/** A further API key of a user, which expires and may do less than the user. The key itself is kept nowhere. */
export interface ScopedKey {
  /** Part of the key: 12 letters and digits. */
  readonly id: string
  readonly userId: UserId
  readonly name: string
  /** Keyed hash of the whole key, hex. */
  readonly hash: string
  readonly scope: KeyScope
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** Keys of one user, at most. */
export const scopedKeysAtMost = 50
/** Days that a key is good for, at most. */
export const scopedKeyDays = 366

const pattern = /^([A-Za-z0-9]{12})-[A-Za-z0-9]{40}$/u

/** The id in the part of a key after the dot; undefined: it has not the form of a scoped key. */
export const scopedKeyIdIn = (secret: string): string | undefined => pattern.exec(secret)?.[1]

export const isScopedKeyId = (text: string): boolean => /^[A-Za-z0-9]{12}$/u.test(text)

/** What an operation's declaration says, as far as a key's scope decides by it. */
export interface ScopedUse {
  readonly mutates: boolean
  /** It works on one range, which is named or the default one. */
  readonly ofRange: boolean
  /** It hands out what opens something, or changes who may do what. */
  readonly wholeKeyOnly: boolean
}

/** Why a key of this scope must not do this, as the end of a sentence; undefined: it may. */
export const scopeProblem = ({ kind }: KeyScope, { mutates, ofRange, wholeKeyOnly }: ScopedUse): string | undefined => {
  if (wholeKeyOnly) return "it returns secrets or changes permissions, which scoped keys may not do"
  if (kind === "read") return mutates ? "the key is for reading only" : undefined
  return ofRange ? undefined : "the key is for one range, and this operation is not about a range"
}

/** What is said to whoever wants one more. */
export const tooManyScopedKeys = (userId: UserId) => ({
  what: `Cannot create another API key: user ${userId} has ${scopedKeysAtMost} that have not expired`,
  hint: "Remove one first: DELETE /user/keys/{keyID}.",
})
