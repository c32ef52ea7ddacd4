import type { TooManyAttempts, User } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Who tries to sign in, as whom, from where. */
export interface Attempt {
  /** Id of the operation. */
  readonly operation: string
  /**
   * Whose password is tried, as the sender names them: an e-mail address in any letter case. Undefined: it is no password, but the code of a
   * provider of identities, which tells of itself whose it is.
   */
  readonly account: string | undefined
  readonly address: string
}

/** What came of looking at a password or a code: the user, if it is known which, and whether it was right. */
export interface SignInCheck {
  readonly user: User | undefined
  readonly right: boolean
}

/** Attempts since the process began, by what became of them; `throttled` ones were not looked at. */
export type AttemptCounts = Readonly<Record<"right" | "wrong" | "throttled", number>>

/** Every place where a password can be guessed goes through here, so that guessing is slow, is counted, and costs no row for each guess. */
export class SignIns extends Context.Service<
  SignIns,
  {
    /**
     * Looks at a password or a code with `check`, unless too many wrong ones came before: then fails with how long to wait. What came of it
     * when it was right, else undefined. Passwords are looked at one after another; for codes, which nobody guesses, the provider is asked.
     */
    readonly attempt: <C extends SignInCheck, E, R>(
      attempt: Attempt,
      check: Effect.Effect<C, E, R>,
    ) => Effect.Effect<C | undefined, E | TooManyAttempts, R>
    readonly counts: () => AttemptCounts
    /** Sealed random text that takes the place of a password where there is none, so that the answer takes as long. */
    readonly decoy: { readonly sealed: string; readonly context: string }
    /** Writes what was counted to the audit trail; also done every ten minutes and at the end. */
    readonly flush: Effect.Effect<void>
  }
>()("rangewright/SignIns") {}
