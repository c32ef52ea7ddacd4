import { CredentialHasher, Groups, Ranges, RunJournal, Sessions, Users } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { ServerSentEvent } from "../operation/server-sent-event.ts"
import { recent } from "../sign-in/recent.ts"
import type { LiveData } from "../wire/live-event.ts"
import { noticeObject } from "../wire/notice.ts"
import { runSummary } from "../wire/run.ts"
import { cameWith, type Sight, sightOf, visible } from "./access.ts"
import { EventFeed, type Follower } from "./event-feed.ts"
import { aboutOf, type Change, changesOf, makeLook, type Picture, type Seen } from "./look.ts"
import { streamsOfUsers } from "./streams-of-users.ts"

/** Milliseconds between two checks for changes while anybody follows; also the shortest time between two events about one thing. */
const lookEvery = 250
/** Most milliseconds between two checks of rights. */
const rightsEvery = 1_000
/** Changes that are kept for returning clients. */
const mostKept = 10_000
/** Streams of one user in one process: each tab of a page may have one. */
const mostOfUser = 32
/** Users for whom it is remembered what they could see. */
const mostUsers = 8_192

interface Entry extends Change {
  readonly seq: number
}

const dataOf = (seen: Seen, { ranges }: Sight): LiveData => {
  switch (seen.kind) {
    case "range": {
      const { id, number, name, state } = seen.range
      const accessType = ranges.get(id)
      return {
        rangeID: id,
        rangeNumber: number,
        ...(accessType === undefined ? {} : { accessType }),
        name,
        rangeState: state,
      }
    }
    case "machine": {
      const { rangeId, vmid, name, power, address, isRouter, cpus, memoryMiB, missingSince } = seen.machine
      return {
        rangeID: rangeId,
        proxmoxID: vmid,
        name: name ?? "",
        poweredOn: power === "running",
        ip: address ?? "null",
        isRouter,
        cpu: cpus,
        ram: Math.floor(memoryMiB / 1024),
        ...(missingSince === undefined ? {} : { missingSince: missingSince.toISOString() }),
      }
    }
    case "notice":
      return noticeObject(seen.notice)
    case "run":
      return { ...runSummary(seen.run), runID: seen.run.id, lastEventID: seen.run.lastSeq }
  }
}

const goneData = (seen: Seen): LiveData =>
  seen.kind === "notice"
    ? { groupName: seen.notice.group, removed: true }
    : seen.kind === "machine"
      ? { rangeID: seen.machine.rangeId, proxmoxID: seen.machine.vmid, removed: true }
      : { rangeID: aboutOf(seen).rangeId ?? "", removed: true }

const isOfRange = (seen: Seen, rangeIds: ReadonlySet<string>): boolean =>
  seen.kind !== "run" && rangeIds.has(aboutOf(seen).rangeId ?? "")

const make = Effect.gen(function* () {
  const hasher = yield* CredentialHasher
  const look = yield* makeLook
  const services = yield* Effect.context<Users | Sessions | Ranges | Groups | RunEngine>()
  /** Different in each process: event IDs of another process are not valid here. */
  const epoch = hasher.randomText(10)
  const kept: Entry[] = []
  const limited = streamsOfUsers(mostOfUser, "One stream is enough for a browser; close the others.")
  /** What users could see, and since which change. */
  const sights = recent<string, { readonly text: string; readonly since: number }>(mostUsers)
  const followed = Latch.makeUnsafe()
  /** One latch per stream; opened when there may be something to send, and when rights are to be checked. */
  const waiting = new Set<Latch.Latch>()
  const wake = (): void => {
    for (const latch of waiting) latch.openUnsafe()
  }
  const turn = Semaphore.makeUnsafe(1)
  let picture: Picture | undefined
  let seq = 0
  let open = 0

  /** Checks once; the first time there is nothing to compare with. */
  const observe = turn.withPermit(
    Effect.gen(function* () {
      const now = yield* look
      const changes = picture === undefined ? [] : changesOf(picture, now)
      picture = now
      for (const change of changes) kept.push({ ...change, seq: ++seq })
      if (kept.length > mostKept) kept.splice(0, kept.length - mostKept)
      if (changes.length > 0) wake()
    }),
  )
  yield* Effect.forkScoped(
    Effect.forever(
      followed.await.pipe(Effect.andThen(Effect.ignore(observe, { log: "Warn" })), Effect.andThen(Effect.sleep(lookEvery))),
    ),
  )
  /** Incremented when rights are to be checked. One clock for all: a timer and a fiber per stream cost more than the rest of it. */
  let beat = 0
  const strike = Effect.sync(() => {
    beat++
    wake()
  })
  yield* Effect.forkScoped(Effect.forever(followed.await.pipe(Effect.andThen(Effect.sleep(rightsEvery)), Effect.andThen(strike))))

  const eventId = (at: number): string => `${epoch}-${at}`
  const note = (event: "ready" | "reset", reason: string, at: number): ServerSentEvent => ({
    id: eventId(at),
    event,
    data: { reason },
  })

  /** The change after which a reader continues; undefined: the changes since then are no longer known. */
  const resumedAt = (lastEventId: string | undefined): number | undefined => {
    const [, of, text] = /^([0-9A-Za-z]{10})-(\d{1,15})$/u.exec(lastEventId ?? "") ?? []
    const at = Number(text)
    return of === epoch && at <= seq && isKept(at) ? at : undefined
  }
  const isKept = (at: number): boolean => at >= (kept[0]?.seq ?? seq + 1) - 1

  const entered = Effect.sync(() => {
    open++
    followed.openUnsafe()
  })
  const left = Effect.sync(() => {
    if (--open === 0) followed.closeUnsafe()
  })

  /** Remembers what the user can see; true when that differs from after change `at`. */
  const saw = (who: string, { text }: Sight, at: number): boolean => {
    const before = sights.get(who)
    const differs = before?.text !== text
    if (differs) sights.set(who, { text, since: seq })
    return differs || before.since > at
  }

  /** The events for these changes: the newest of each thing. */
  const told = Effect.fnUntraced(function* (entries: readonly Entry[], sight: Sight, { wanted }: Follower) {
    const newest = new Map(entries.map((entry) => [entry.key, entry]))
    const all = [...newest.values()].toSorted((a, b) => a.seq - b.seq)
    const seen = all.flatMap(({ now, before }) => now ?? before ?? []).filter((each) => wanted(aboutOf(each)))
    const may = new Set(yield* visible(sight, seen))
    return all.flatMap(({ seq: at, now, before }): ServerSentEvent[] => {
      const thing = now ?? before
      if (thing === undefined || !may.has(thing)) return []
      return [{ id: eventId(at), event: thing.kind, data: now === undefined ? goneData(thing) : dataOf(now, sight) }]
    })
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

  const pages = Effect.fnUntraced(function* (follower: Follower) {
    const { caller, user } = follower
    // a client without an ID yet may send an empty one
    const lastEventId = follower.lastEventId === "" ? undefined : follower.lastEventId
    const who = `${caller.recordId} ${user.recordId}`
    const latch = Latch.makeUnsafe()
    const credentials = yield* cameWith(follower)
    const first = yield* sightOf(follower, credentials)
    let cursor = resumedAt(lastEventId)
    const changed = first !== undefined && saw(who, first, cursor ?? seq)
    const begin =
      lastEventId === undefined
        ? note("ready", "the stream begins here", seq)
        : cursor === undefined || changed
          ? note("reset", "the events since then are no longer available", seq)
          : undefined
    if (begin !== undefined) cursor = seq
    let at = cursor ?? seq
    let sight = first
    let lookedAt = beat
    waiting.add(latch)

    /** Waits for the next events. Ends when nothing may be seen any more. */
    const next = Effect.gen(function* () {
      for (;;) {
        yield* latch.close
        const before = sight
        if (before === undefined) return undefined
        if (seq > at || beat !== lookedAt) {
          lookedAt = beat
          const current = yield* sightOf(follower, credentials, before)
          sight = current
          if (current === undefined) return undefined
          if (!isKept(at)) {
            at = seq
            return [note("reset", "too much has changed to report", at)]
          }
          const upTo = seq
          const since = at
          const isAnother = current.text !== before.text
          if (isAnother) saw(who, current, upTo)
          // an administrator sees entirely different things
          if (current.user.isAdmin !== before.user.isAdmin) {
            at = upTo
            return [note("reset", "your rights have changed", at)]
          }
          const events = [
            ...(yield* told(
              kept.filter((entry) => entry.seq > since && entry.seq <= upTo),
              current,
              follower,
            )),
            ...(isAnother ? turned(before, current, follower, upTo) : []),
          ]
          at = upTo
          if (events.length > 0) return events
        }
        yield* latch.await
      }
    })

    type Page = readonly [readonly ServerSentEvent[], Option.Option<boolean>]
    const page = (isFirst: boolean): Effect.Effect<Page, Effect.Error<typeof next>, Effect.Services<typeof next>> =>
      isFirst && begin !== undefined
        ? Effect.succeed([[begin], Option.some(false)])
        : Effect.map(next, (events): Page => (events === undefined ? [[], Option.none()] : [events, Option.some(false)]))
    return Stream.paginate(true, page).pipe(Stream.ensuring(Effect.sync(() => void waiting.delete(latch))))
  })

  const follow: EventFeed["Service"]["follow"] = (follower) =>
    limited(
      follower.caller.id,
      Stream.unwrap(
        Effect.gen(function* () {
          yield* Effect.acquireRelease(entered, () => left)
          // what exists when the stream begins is not a change
          yield* observe
          return yield* pages(follower)
        }),
      ).pipe(Stream.provideContext(services)),
    )

  return EventFeed.of({ follow, open: () => open })
})

/** One check of the store serves all followers in this process: changes by other processes are seen like its own. */
export const eventFeedLayer: Layer.Layer<
  EventFeed,
  never,
  CredentialHasher | Groups | Ranges | RunJournal | Sessions | Users | RunEngine
> = Layer.effect(EventFeed, make)
