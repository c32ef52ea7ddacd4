import { type Session, sessionEndsAt, type User } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { wireTime } from "./common.ts"

/** Who is signed in, and with which session; null: with a key or a token. */
export const SignedIn = Schema.Struct({
  userID: Schema.String,
  name: Schema.String,
  email: Schema.String,
  isAdmin: Schema.Boolean,
  defaultRangeID: Schema.NullOr(Schema.String),
  sessionID: Schema.NullOr(Schema.String),
  createdAt: Schema.NullOr(Schema.String),
  endsAt: Schema.NullOr(Schema.String),
}).annotate({ identifier: "SignedIn" })

export const signedIn = (user: User, session: Session | undefined): typeof SignedIn.Type => ({
  userID: user.id,
  name: user.name,
  email: user.email,
  isAdmin: user.isAdmin,
  defaultRangeID: user.defaultRangeId ?? null,
  sessionID: session?.id ?? null,
  createdAt: session === undefined ? null : wireTime(session.createdAt),
  endsAt: session === undefined ? null : wireTime(sessionEndsAt(session)),
})

export const SessionObject = Schema.Struct({
  sessionID: Schema.String,
  createdAt: Schema.String,
  lastSeenAt: Schema.String,
  endsAt: Schema.String,
  remote: Schema.String,
  agent: Schema.String,
  current: Schema.Boolean,
}).annotate({ identifier: "SessionObject" })

export const sessionObject = (session: Session, current: Session | undefined): typeof SessionObject.Type => ({
  sessionID: session.id,
  createdAt: wireTime(session.createdAt),
  lastSeenAt: wireTime(session.lastSeenAt),
  endsAt: wireTime(sessionEndsAt(session)),
  remote: session.remote,
  agent: session.agent,
  current: session.id === current?.id,
})
