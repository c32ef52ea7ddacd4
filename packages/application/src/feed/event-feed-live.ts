import type { Fault } from "@rangewright/domain"
import { CredentialHasher, Groups, Ranges, RunJournal, Sessions, Users } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import type { EventReader, ServerSentEvent } from "../operation/server-sent-event.ts"
import { recent } from "../sign-in/recent.ts"
import type { LiveData } from "../wire/live-event.ts"
import { cameWith, type Sight, sightOf, visible } from "./access.ts"
import { EventFeed, type Follower } from "./event-feed.ts"
import { dataOf, goneData } from "./live-data.ts"
import { aboutOf, type Change, changesOf, makeLook, type Picture, type Seen } from "./look.ts"
import { streamsOfUsers } from "./streams-of-users.ts"

/** Milliseconds between two checks for changes while anybody follows; also the shortest time between two events about one thing. */
const lookEvery = 250
/** The number of these checks from one check of everybody's rights to the next. */
const looksPerRightsCheck = 4
/** Followers whose rights are read at the same time. */
const readAtOnce = 16
/** Changes that are kept for returning clients. */
const mostKept = 10_000
/** Streams of one user in one process: each tab of a page may have one. */
const mostOfUser = 32
/** Users for whom it is remembered what they could see. */
const mostUsers = 8_192

interface Entry extends Change {
  readonly seq: number
}

/** An entry as readers are told of it. */
interface News {
  readonly thing: Seen
  readonly eventFor: (sight: Sight) => ServerSentEvent
}

const noNews = { since: 0, upTo: 0, news: [] as readonly News[] }

/** A follower whose stream has begun. */
interface Following {
  readonly follower: Follower
  readonly reader: EventReader
  readonly who: string
  readonly credentials: string | undefined
  sight: Sight
  /** The last change that the reader was told of. */
  at: number
  readonly end: (exit: Exit.Exit<void, Fault>) => void
}

/** The adapter renders each value once, so these cost a reader nothing. */
const notes = {
  ready: { event: "ready", data: { reason: "the stream begins here" } },
  forgotten: { event: "reset", data: { reason: "the events since then are no longer available" } },
  tooMuch: { event: "reset", data: { reason: "too much has changed to report" } },
  otherRights: { event: "reset", data: { reason: "your rights have changed" } },
} as const satisfies Record<string, { readonly event: "ready" | "reset"; readonly data: LiveData }>

const isOfRange = (seen: Seen, rangeIds: ReadonlySet<string>): boolean =>
  seen.kind !== "run" && rangeIds.has(aboutOf(seen).rangeId ?? "")

const make = Effect.gen(function* () {
  const hasher = yield* CredentialHasher
  const look = yield* makeLook
  const services = yield* Effect.context<Users | Sessions | Ranges | Groups | RunEngine>()
  /** Different in each process: event IDs of another process are not valid here. */
  const epoch = hasher.randomText(10)
  const kept: Entry[] = []
  const streams = streamsOfUsers(mostOfUser, "One stream is enough for a browser; close the others.")
  /** What users could see, and since which change. */
  const sights = recent<string, { readonly text: string; readonly since: number }>(mostUsers)
  const followed = Latch.makeUnsafe()
  const followings = new Set<Following>()
  const turn = Semaphore.makeUnsafe(1)
  let picture: Picture | undefined
  let seq = 0
  /** Whether the last check succeeded, and the next one follows it soon. */
  let isCurrent = false

  /** Checks once; the first time there is nothing to compare with. */
  const observe = Effect.gen(function* () {
    isCurrent = false
    const now = yield* look
    const changes = picture === undefined ? [] : changesOf(picture, now)
    picture = now
    for (const change of changes) kept.push({ ...change, seq: ++seq })
    if (kept.length > mostKept) kept.splice(0, kept.length - mostKept)
    isCurrent = true
  })
  const observeInTurn = turn.withPermit(observe)
  const observeIfNobodyDoes = turn.withPermit(Effect.suspend(() => (isCurrent ? Effect.void : observe)))

  const eventId = (at: number): string => `${epoch}-${at}`
  const note = (which: keyof typeof notes, at: number): ServerSentEvent => ({ id: eventId(at), ...notes[which] })

  /** The change after which a reader continues; undefined: the changes since then are no longer known. */
  const resumedAt = (lastEventId: string | undefined): number | undefined => {
    const [, of, text] = /^([0-9A-Za-z]{10})-(\d{1,15})$/u.exec(lastEventId ?? "") ?? []
    const at = Number(text)
    return of === epoch && at <= seq && isKept(at) ? at : undefined
  }
  const isKept = (at: number): boolean => at >= (kept[0]?.seq ?? seq + 1) - 1

  /** Remembers what the user can see; true when that differs from after change `at`. */
  const saw = (who: string, { text }: Sight, at: number): boolean => {
    const before = sights.get(who)
    const differs = before?.text !== text
    if (differs) sights.set(who, { text, since: seq })
    return differs || before.since > at
  }

  const newsOf = ({ seq: at, now, before }: Entry): readonly News[] => {
    const thing = now ?? before
    if (thing === undefined) return []
    const event = (data: LiveData): ServerSentEvent => ({ id: eventId(at), event: thing.kind, data })
    if (now?.kind === "range") return [{ thing, eventFor: (sight) => event(dataOf(now, sight)) }]
    const same = event(now === undefined ? goneData(thing) : dataOf(now))
    return [{ thing, eventFor: () => same }]
  }

  let newest = noNews
  /** The newest change of each thing after change `since`; made once for all readers of a round who know as much. */
  const newsSince = (since: number): readonly News[] => {
    if (newest.since === since && newest.upTo === seq) return newest.news
    const entries = new Map(kept.filter((entry) => entry.seq > since).map((entry) => [entry.key, entry]))
    const news = [...entries.values()].toSorted((a, b) => a.seq - b.seq).flatMap(newsOf)
    newest = { since, upTo: seq, news }
    return news
  }

  /** The events for these changes that the follower wants and may see. */
  const told = Effect.fnUntraced(function* (news: readonly News[], sight: Sight, { wanted }: Follower) {
    const may = new Set(
      yield* visible(
        sight,
        news.map(({ thing }) => thing).filter((thing) => wanted(aboutOf(thing))),
      ),
    )
    return news.filter(({ thing }) => may.has(thing)).map(({ eventFor }) => eventFor(sight))
  })

  /** The events for a change of rights: lost ranges and groups, and new ones with their machines and notices. */
  const turned = (before: Sight, sight: Sight, { wanted }: Follower, at: number): readonly ServerSentEvent[] => {
    const lost = [...before.ranges.keys()].filter((id) => !sight.ranges.has(id))
    const left = [...before.groups].filter((name) => !sight.groups.has(name))
    const came = new Set<string>([...sight.ranges].flatMap(([id, how]) => (before.ranges.get(id) === how ? [] : [id])))
    const joined = new Set<string>([...sight.groups].filter((name) => !before.groups.has(name)))
    const things = [...(picture?.others.values() ?? [])]
      .map(({ seen }) => seen)
      .filter((seen) => (seen.kind === "notice" ? joined.has(seen.notice.group) : isOfRange(seen, came)))
    const event = (kind: Seen["kind"], data: LiveData): ServerSentEvent => ({
      id: eventId(at),
      event: kind,
      data,
    })
    return [
      ...lost
        .filter((rangeId) => wanted({ kind: "range", rangeId, runId: undefined }))
        .map((id) => event("range", { rangeID: id, removed: true })),
      ...left
        .filter(() => wanted({ kind: "notice", rangeId: undefined, runId: undefined }))
        .map((name) => event("notice", { groupName: name, removed: true })),
      ...things.filter((seen) => wanted(aboutOf(seen))).map((seen) => event(seen.kind, dataOf(seen, sight))),
    ]
  }

  /** Sends a reader what has happened since; ends the stream when nothing may be seen any more. */
  const tell = Effect.fnUntraced(function* (following: Following) {
    const { follower, reader, who, credentials, sight: before, at: since } = following
    const current = yield* sightOf(follower, credentials, before)
    if (current === undefined) return following.end(Exit.void)
    const upTo = seq
    following.sight = current
    following.at = upTo
    if (!isKept(since)) return reader.send([note("tooMuch", upTo)])
    const isAnother = current.text !== before.text
    if (isAnother) saw(who, current, upTo)
    // an administrator sees entirely different things
    if (current.user.isAdmin !== before.user.isAdmin) return reader.send([note("otherRights", upTo)])
    const events = [
      ...(yield* told(newsSince(since), current, follower)),
      ...(isAnother ? turned(before, current, follower, upTo) : []),
    ]
    if (events.length > 0) reader.send(events)
  })

  const tellOrEnd = (following: Following) =>
    Effect.catchCause(tell(following), (cause) => Effect.sync(() => following.end(Exit.failCause(cause))))

  let looks = 0
  /** One loop for all: a timer and a loop for each stream cost more than the rest of it. */
  const round = Effect.gen(function* () {
    if (streams.open() === 0) {
      isCurrent = false
      followed.closeUnsafe()
      yield* followed.await
    }
    yield* Effect.ignoreCause(observeInTurn, { log: "Warn" })
    const checksRights = ++looks % looksPerRightsCheck === 0
    // a reader without room is told later, and holds no memory meanwhile
    const due = [...followings].filter(({ at, reader }) => (checksRights || at < seq) && reader.hasRoom())
    yield* Effect.forEach(due, tellOrEnd, { concurrency: readAtOnce, discard: true })
    newest = noNews
    yield* Effect.sleep(lookEvery)
  })
  yield* Effect.forkScoped(Effect.forever(round))

  /** Sends the first event; undefined if nothing may be seen. */
  const begin = Effect.fnUntraced(function* (follower: Follower, reader: EventReader) {
    yield* followed.open
    // what exists when the stream begins is not a change
    yield* observeIfNobodyDoes
    const { caller, user } = follower
    // a client without an ID yet may send an empty one
    const lastEventId = follower.lastEventId === "" ? undefined : follower.lastEventId
    const who = `${caller.recordId} ${user.recordId}`
    const credentials = yield* cameWith(follower)
    const sight = yield* sightOf(follower, credentials)
    if (sight === undefined) return undefined
    const cursor = resumedAt(lastEventId)
    const changed = saw(who, sight, cursor ?? seq)
    const resumes = cursor !== undefined && !changed
    if (lastEventId === undefined) reader.send([note("ready", seq)])
    else if (!resumes) reader.send([note("forgotten", seq)])
    return { follower, reader, who, credentials, sight, at: resumes ? cursor : seq }
  })

  const followOn = (begun: Omit<Following, "end">): Effect.Effect<void, Fault> =>
    Effect.callback((resume) => {
      const leave = () => void followings.delete(following)
      const following: Following = {
        ...begun,
        end: (exit) => {
          leave()
          resume(exit)
        },
      }
      followings.add(following)
      return Effect.sync(leave)
    })

  const follow: EventFeed["Service"]["follow"] = (follower) =>
    streams.limited(follower.caller.id, (reader) =>
      // replaces the context: the union of two is a new map of everything for each stream
      Effect.flatMap(
        Effect.updateContext(begin(follower, reader), () => services),
        (begun) => (begun === undefined ? Effect.void : followOn(begun)),
      ),
    )

  return EventFeed.of({ follow, open: streams.open })
})

/** One check of the store serves all followers in this process: changes by other processes are seen like its own. */
export const eventFeedLayer: Layer.Layer<
  EventFeed,
  never,
  CredentialHasher | Groups | Ranges | RunJournal | Sessions | Users | RunEngine
> = Layer.effect(EventFeed, make)
