import type { RangeId, UserId } from "./ids.ts"

/** What a scoped key may be used for. */
export type KeyScope =
  /** Read-only operations. */
  | { readonly kind: "read" }
  /** Operations on this one range. */
  | { readonly kind: "range"; readonly rangeId: RangeId }

/** An additional API key of a user, which expires and can do less than the user. The key itself is not stored. */
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

/** Maximum number of keys per user. */
export const scopedKeysAtMost = 50
/** Maximum validity of a key, in days. */
export const scopedKeyDays = 366

/**
 * Why a key may not be used now, as the end of a sentence; undefined if it may. One that is valid for longer than any key was created when
 * the clock was far ahead.
 */
export const whyOver = ({ expiresAt }: Pick<ScopedKey, "expiresAt">, now: number): string | undefined => {
  const daysLeft = (expiresAt.getTime() - now) / 86_400_000
  if (daysLeft <= 0) return "has expired"
  return daysLeft <= scopedKeyDays + 1 ? undefined : "was created while the clock was wrong, so its end is unknown"
}

const pattern = /^([A-Za-z0-9]{12})-[A-Za-z0-9]{40}$/u

/** The id in the part of a key after the dot; undefined if it does not have the form of a scoped key. */
export const scopedKeyIdIn = (secret: string): string | undefined => pattern.exec(secret)?.[1]

export const isScopedKeyId = (text: string): boolean => /^[A-Za-z0-9]{12}$/u.test(text)

/** The properties of an operation that decide whether a key's scope allows it. */
export interface ScopedUse {
  readonly mutates: boolean
  /** It works on a single range, named or the default one. */
  readonly ofRange: boolean
  /** It returns secrets or changes permissions. */
  readonly wholeKeyOnly: boolean
}

/** Why a key of this scope must not do this, as the end of a sentence; undefined if it may. */
export const scopeProblem = ({ kind }: KeyScope, { mutates, ofRange, wholeKeyOnly }: ScopedUse): string | undefined => {
  if (wholeKeyOnly) return "it returns secrets or changes permissions, which scoped keys may not do"
  if (kind === "read") return mutates ? "the key is for reading only" : undefined
  return ofRange ? undefined : "the key is for one range, and this operation is not about a range"
}

/** The refusal of another key. */
export const tooManyScopedKeys = (userId: UserId) => ({
  what: `Cannot create another API key: user ${userId} has ${scopedKeysAtMost} that have not expired`,
  hint: "Remove one first: DELETE /user/keys/{keyID}.",
})
