import type { TooManyAttempts, User } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Who tries a password, of whom, from where. */
export interface Attempt {
  /** Id of the operation. */
  readonly operation: string
  /** Whose password is tried, as the sender names them: an e-mail address in any letter case. */
  readonly account: string
  readonly address: string
}

/** What came of looking at a password: the user of that name, if there is one, and whether it was right. */
export interface PasswordCheck {
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
     * Looks at a password with `check`, unless too many wrong ones came before: then fails with how long to wait. The user when it was
     * right, else undefined. Attempts are looked at one after another.
     */
    readonly attempt: <E, R>(
      attempt: Attempt,
      check: Effect.Effect<PasswordCheck, E, R>,
    ) => Effect.Effect<User | undefined, E | TooManyAttempts, R>
    readonly counts: () => AttemptCounts
    /** Sealed random text that takes the place of a password where there is none, so that the answer takes as long. */
    readonly decoy: { readonly sealed: string; readonly context: string }
    /** Writes what was counted to the audit trail; also done every ten minutes and at the end. */
    readonly flush: Effect.Effect<void>
  }
>()("rangewright/SignIns") {}
