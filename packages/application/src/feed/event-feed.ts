import type { Fault, Session, User } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ServerSentEvent } from "../operation/server-sent-event.ts"
import type { Wanted } from "./topics.ts"

/** Who follows what. */
export interface Follower {
  readonly caller: User
  /** The user acted as: what they may see is told. */
  readonly user: User
  readonly session: Session | undefined
  readonly wanted: Wanted
  readonly lastEventId: string | undefined
}

/** Tells of every change of ranges, machines, runs and notices of groups, to whoever may see what changed. */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** Ends with the session, and when the credentials are replaced or a user goes. Fails when the user follows too much already. */
    readonly follow: (follower: Follower) => Effect.Effect<Stream.Stream<ServerSentEvent, Fault>, Fault>
    /** How many follow. */
    readonly open: () => number
  }
>()("rangewright/EventFeed") {}
