import { type GroupName, hasSessionEnded, type RangeId, rangeOf, type User } from "@rangewright/domain"
import { Groups, Ranges, Sessions, type StorageFault, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { followable } from "../run/find-run.ts"
import type { Follower } from "./event-feed.ts"
import type { Seen } from "./look.ts"

/** What a follower may currently see. */
export interface Sight {
  readonly user: User
  /** The user's ranges; `Direct` where the user has a range both ways. */
  readonly ranges: ReadonlyMap<RangeId, "Direct" | "Group">
  /** The groups that the user is in. */
  readonly groups: ReadonlySet<GroupName>
  /** Changes when any of this changes. */
  readonly text: string
  /** `Ranges.revision` from before ranges and groups were read: they are unchanged as long as it is. */
  readonly revision: number
}

const credentialsOf = Effect.fnUntraced(function* ({ id }: User) {
  const users = yield* Users
  const found = yield* users.forAuthentication(id)
  return found === undefined ? undefined : { ...found, text: `${found.secrets.apiKeyHash ?? ""} ${found.secrets.tokenKey}` }
})

/** Who follows, and as whom. */
export type Reader = Pick<Follower, "caller" | "user" | "session">

/** The follower's credentials at the start: they must stay the same while following. */
export const cameWith = ({ caller }: Pick<Reader, "caller">) => Effect.map(credentialsOf(caller), (known) => known?.text)

/** The user acted as, as they are now; undefined: the session or the credentials are over, or one of the users was removed. */
export const readerNow = Effect.fnUntraced(function* (
  { caller, user, session }: Reader,
  credentials: string | undefined,
): Effect.fn.Return<User | undefined, StorageFault, Users | Sessions> {
  const sessions = yield* Sessions
  const users = yield* Users
  const known = yield* credentialsOf(caller)
  // another user with the same ID is somebody else
  if (known === undefined || known.user.recordId !== caller.recordId || known.text !== credentials) return undefined
  if (session !== undefined) {
    const kept = yield* sessions.find(session.hash)
    if (kept === undefined || hasSessionEnded(kept, new Date(yield* Clock.currentTimeMillis))) return undefined
  }
  const current = user.id === caller.id ? known.user : yield* users.find(user.id)
  if (current === undefined || current.recordId !== user.recordId) return undefined
  return user.id !== caller.id && !known.user.isAdmin ? undefined : current
})

/**
 * What the follower may see; undefined: nothing any more, and the stream ends. What cannot have changed since `before` is not read again.
 */
export const sightOf = Effect.fnUntraced(function* (
  { user, ...reader }: Reader,
  credentials: string | undefined,
  before?: Sight,
): Effect.fn.Return<Sight | undefined, StorageFault, Users | Sessions | Ranges | Groups> {
  const rangeStore = yield* Ranges
  const current = yield* readerNow({ user, ...reader }, credentials)
  if (current === undefined) return undefined
  const revision = yield* rangeStore.revision
  if (before?.revision === revision && before.user.isAdmin === current.isAdmin) return { ...before, user: current }
  const ranges = new Map<RangeId, "Direct" | "Group">()
  for (const { rangeId, accessType } of yield* rangeStore.grantsOf(user.id))
    if (accessType === "Direct" || !ranges.has(rangeId)) ranges.set(rangeId, accessType === "Direct" ? "Direct" : "Group")
  const groupStore = yield* Groups
  const groups = new Set((yield* groupStore.memberships(user.id)).map(({ group }) => group.name))
  const text = JSON.stringify([current.isAdmin, [...ranges], [...groups]])
  // keeps the old objects if it can: with many followers they are old, and only a full collection would free them
  return before?.text === text ? { ...before, user: current, revision } : { user: current, ranges, groups, text, revision }
})

/** The things that the user may see, by the same rules as reads. */
export const visible = Effect.fnUntraced(function* (sight: Sight, all: readonly Seen[]) {
  const { user, ranges, groups } = sight
  if (user.isAdmin) return all
  const others = all.flatMap((seen) => (seen.kind === "run" && rangeOf(seen.run) === undefined ? [seen.run] : []))
  const own = new Set(others.length === 0 ? [] : (yield* followable(others, user)).map(({ id }) => id))
  return all.filter((seen) => {
    if (seen.kind === "notice") return groups.has(seen.notice.group)
    if (seen.kind === "range") return ranges.has(seen.range.id)
    if (seen.kind === "machine") return ranges.has(seen.machine.rangeId)
    const rangeId = rangeOf(seen.run)
    return rangeId === undefined ? own.has(seen.run.id) : ranges.has(rangeId)
  })
})
