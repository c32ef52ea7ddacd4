import type { TooManyAttempts, User } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** An attempt to sign in: as whom, and from where. */
export interface Attempt {
  /** ID of the operation. */
  readonly operation: string
  /**
   * Whose password is tried, as the sender names them: an e-mail address in any letter case. Undefined: it is not a password but a code of
   * an identity provider, which itself tells whose it is.
   */
  readonly account: string | undefined
  readonly address: string
}

/** The result of checking a password or a code: the user, if known, and whether it was right. */
export interface SignInCheck {
  readonly user: User | undefined
  readonly right: boolean
}

/** Attempts since the process started, by result; `throttled` ones were not checked. */
export type AttemptCounts = Readonly<Record<"right" | "wrong" | "throttled", number>>

/** Every place where a password can be guessed uses this, so that guessing is slow, is counted, and costs no row per guess. */
export class SignIns extends Context.Service<
  SignIns,
  {
    /**
     * Checks a password or a code with `check`, unless there were too many wrong ones before: then fails with how long to wait. Returns the
     * result if it was right, else undefined. Passwords are checked one after another; codes, which nobody guesses, are checked by the
     * provider concurrently.
     */
    readonly attempt: <C extends SignInCheck, E, R>(
      attempt: Attempt,
      check: Effect.Effect<C, E, R>,
    ) => Effect.Effect<C | undefined, E | TooManyAttempts, R>
    readonly counts: () => AttemptCounts
    /** Sealed random text to use in place of a missing password, so that the answer takes as long. */
    readonly decoy: { readonly sealed: string; readonly context: string }
    /** Writes the counts to the audit trail; also done every ten minutes and at the end. */
    readonly flush: Effect.Effect<void>
  }
>()("rangewright/SignIns") {}
