import type { RecordId, SecretSeen, Session, UserId, UserNotFound } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** As many sessions of a user are kept: a new one takes the place of the one that was longest unused. */
export const mostSessions = 50

/**
 * Browsers in which users are signed in, for every instance of the service. A user's sessions go with the user, with a change of the secrets
 * (`Users.setSecrets`), and with the rights of an administrator.
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    /**
     * Keeps a session, and forgets those of everybody that have ended. False, and none is kept: the secret that began it has been replaced
     * since it was seen, and what replaced it has ended the sessions that there were.
     */
    readonly begin: (session: Session, seen: SecretSeen) => Effect.Effect<boolean, UserNotFound | StorageFault>
    /** Hot path. The session may have ended by time. */
    readonly find: (hash: string) => Effect.Effect<Session | undefined, StorageFault>
    /** A user's, newest first. */
    readonly of: (userId: UserId) => Effect.Effect<readonly Session[], StorageFault>
    /** When it was last used; never goes back, and one that is gone stays gone. */
    readonly touch: (hash: string, at: Date) => Effect.Effect<void, StorageFault>
    /** Ends all of a user, or one, if it is that user's; returns how many there were. */
    readonly end: (
      which: { readonly userId: UserId } | { readonly id: RecordId; readonly userId: UserId | undefined },
    ) => Effect.Effect<number, StorageFault>
  }
>()("rangewright/Sessions") {}
