import type { RecordId, SecretSeen, Session, UserId, UserNotFound } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Sessions kept per user; a new session replaces the one unused for the longest time. */
export const mostSessions = 50

/**
 * Browser sessions of signed-in users, shared by all instances of the service. A user's sessions end when the user is removed, when the
 * user's secrets change (`Users.setSecrets`), and when the user loses administrator rights.
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    /**
     * Stores a session and deletes all expired sessions, of any user. Returns false and stores nothing if the secret that the sign-in used
     * has been replaced since it was checked: replacing it ended all existing sessions.
     */
    readonly begin: (session: Session, seen: SecretSeen) => Effect.Effect<boolean, UserNotFound | StorageFault>
    /** Hot path. May return an expired session. */
    readonly find: (hash: string) => Effect.Effect<Session | undefined, StorageFault>
    /** The user's sessions, newest first. */
    readonly of: (userId: UserId) => Effect.Effect<readonly Session[], StorageFault>
    /** Records the last use. The time never moves backward, and a deleted session is not recreated. */
    readonly touch: (hash: string, at: Date) => Effect.Effect<void, StorageFault>
    /** Ends all sessions of a user, or one session (with `userId`, only if it belongs to that user); returns how many were ended. */
    readonly end: (
      which: { readonly userId: UserId } | { readonly id: RecordId; readonly userId: UserId | undefined },
    ) => Effect.Effect<number, StorageFault>
  }
>()("rangewright/Sessions") {}
