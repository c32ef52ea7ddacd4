import type { Fault, Session, User } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ServerSentEvents } from "../operation/server-sent-event.ts"
import type { Wanted } from "./topics.ts"

/** A follower of the feed, and what they want. */
export interface Follower {
  readonly caller: User
  /** The user acted as: the feed contains what this user may see. */
  readonly user: User
  readonly session: Session | undefined
  readonly wanted: Wanted
  readonly lastEventId: string | undefined
}

/** Reports every change of ranges, machines, runs and notices of groups to those who may see what changed. */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    /**
     * Ends with the session, and when the credentials are replaced or one of the users is removed. Fails when the user has too many
     * streams.
     */
    readonly follow: (follower: Follower) => Effect.Effect<ServerSentEvents, Fault>
    /** The number of followers. */
    readonly open: () => number
  }
>()("rangewright/EventFeed") {}
