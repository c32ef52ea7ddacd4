import { type Signal, signal } from "@preact/signals"
import { useEffect, useRef, useState } from "preact/hooks"
import { type LiveEvent, onLive } from "../live/live.ts"
import { type Parameters, type Part, read, readPart, Refusal } from "./client.ts"
import { t } from "../texts.ts"

/** Data read from the service, kept up to date while a page shows it. */
export interface Resource<A> {
  readonly data: Signal<A | undefined>
  readonly refusal: Signal<Refusal | undefined>
  readonly reload: () => Promise<void>
}

/** Applies an event to the data; undefined when it must be read again. */
export type Patch<A> = (data: A, event: LiveEvent) => A | undefined

type Touched = (event: LiveEvent) => boolean

interface Held extends Resource<unknown> {
  users: number
  /** The events that affect it, as each of its users says. */
  readonly touches: Set<Touched>
  /** Reads what was not read while nobody used it. */
  readonly use: () => void
  readonly end: () => void
}

/** Whether the data belongs to a range or machine that was deleted, or that the user lost access to. */
const isGone = ({ topic, rangeID, data }: LiveEvent, parameters: Parameters): boolean =>
  data["removed"] === true &&
  (topic === "range" ? parameters["rangeID"] === rangeID : parameters["vmID"] === String(data["proxmoxID"]))

const never = (): boolean => false
const held = new Map<string, Held>()
/** Minimum milliseconds between two reads of the same data, however fast it changes. */
const pace = 300

interface Wanted {
  readonly path: string | undefined
  readonly parameters: Parameters
  readonly inParts: boolean
  readonly touched: Touched
  readonly patch: Patch<unknown> | undefined
}

const hold = (path: string, { parameters, inParts, touched, patch }: Wanted): Held => {
  const data = signal<unknown>(undefined)
  const refusal = signal<Refusal | undefined>(undefined)
  const gone = new AbortController()
  const touches = new Set([touched])
  let reading: Promise<void> | undefined
  let stale = false
  let unread = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const refuse = (why: Refusal): void => {
    // the user may no longer see this; after any other failure, what was read last is better than nothing
    if (why.status === 403 || why.status === 404) data.value = undefined
    refusal.value = why
  }
  const once = async (): Promise<void> => {
    try {
      const next = await (inParts ? readPart : read)(path, parameters, gone.signal)
      // unchanged data is not rendered again
      if (JSON.stringify(next) !== JSON.stringify(data.peek())) data.value = next
      refusal.value = undefined
    } catch (error) {
      if (gone.signal.aborted) return
      refuse(error instanceof Refusal ? error : new Refusal(0, String(error)))
    }
  }
  const reload = (): Promise<void> => {
    if (reading !== undefined) {
      stale = true
      return reading
    }
    reading = once().finally(() => {
      reading = undefined
      for (const event of meanwhile.splice(0)) apply(event)
      if (!stale) return
      stale = false
      later()
    })
    return reading
  }
  const later = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      // its page was left: what it shows may be gone, because it was deleted there
      if (self.users === 0) unread = true
      else void reload()
    }, pace)
  }
  /** Events that arrived during the read, whose result may be older. */
  const meanwhile: LiveEvent[] = []
  const apply = (event: LiveEvent): void => {
    if (isGone(event, parameters)) return refuse(new Refusal(404, t.gone))
    const shown = data.peek()
    const patched = shown === undefined ? undefined : patch?.(shown, event)
    if (patched === undefined) later()
    else data.value = patched
  }
  const stop = onLive((event) => {
    if (event.topic === "reset") return later()
    if (![...touches].some((touched) => touched(event)) && !isGone(event, parameters)) return
    if (reading === undefined) apply(event)
    else meanwhile.push(event)
  })
  void reload()
  const self: Held = {
    data,
    refusal,
    reload,
    users: 0,
    touches,
    use: () => {
      self.users += 1
      if (!unread) return
      unread = false
      void reload()
    },
    end: () => {
      stop()
      clearTimeout(timer)
      gone.abort()
    },
  }
  return self
}

/** Reads nothing. */
const idle: Held = {
  data: signal<unknown>(undefined),
  refusal: signal<Refusal | undefined>(undefined),
  reload: async () => undefined,
  users: 1,
  touches: new Set(),
  use: () => void (idle.users += 1),
  end: () => undefined,
}

/** Whether the service has answered, or was not asked. */
const isRead = (resource: Resource<unknown>): boolean =>
  resource === idle || resource.data.value !== undefined || resource.refusal.value !== undefined

const useHeld = <A>(wanted: Wanted): Resource<A> => {
  const { path, parameters, inParts, touched } = wanted
  const key = `${path ?? ""} ${JSON.stringify([inParts, parameters])}`
  const [resource, setResource] = useState<readonly [string, Held]>(() => [key, take(key, wanted)])
  const current = resource[0] === key ? resource[1] : take(key, wanted)
  useEffect(() => {
    const mine = take(key, wanted)
    // one of its own: two users may pass the same function
    const touches: Touched = (event) => touched(event)
    mine.use()
    mine.touches.add(touches)
    setResource([key, mine])
    return () => {
      mine.users -= 1
      mine.touches.delete(touches)
      releaseLater(key, mine, 1_000)
    }
  }, [key])
  return current as unknown as Resource<A>
}

/**
 * The answer of a read operation; nothing is read without a path. Components that need the same data share it; it is read again when an
 * event affects it.
 */
export const useRead = <A>(
  path: string | undefined,
  parameters: Parameters = {},
  touched: (event: LiveEvent) => boolean = never,
  patch?: Patch<A>,
): Resource<A> => useHeld({ path, parameters, inParts: false, touched, patch: patch as Patch<unknown> | undefined })

/** The same for a list that is answered in pages. */
export const usePart = <A>(
  path: string,
  parameters: Parameters,
  touched: (event: LiveEvent) => boolean = never,
): Resource<Part<A>> => useHeld({ path, parameters, inParts: true, touched, patch: undefined })

/** Whether all of them have been read once: components that appear together wait for this, so that nothing moves while loading. */
export const useAllRead = (...resources: readonly Resource<unknown>[]): boolean => {
  const were = useRef(false)
  were.current ||= resources.every(isRead)
  return were.current
}

const take = (key: string, wanted: Wanted): Held => {
  if (wanted.path === undefined) return idle
  const there = held.get(key)
  if (there !== undefined) return there
  const made = hold(wanted.path, wanted)
  held.set(key, made)
  // the component may never be mounted; in a tab in the background that takes seconds
  releaseLater(key, made, 10_000)
  return made
}

/** The next page may need the same data; it is released if nobody has taken it up by then. */
const releaseLater = (key: string, mine: Held, milliseconds: number): void =>
  void setTimeout(() => {
    if (mine.users > 0 || held.get(key) !== mine) return
    mine.end()
    held.delete(key)
  }, milliseconds)

/** Drops all data: the next page reads it again, and the page being left stops asking. Components that stay mounted keep theirs. */
export const forget = (): void => {
  for (const resource of held.values()) resource.end()
  held.clear()
}

/** Reads all displayed data again, after a change made by this page. */
export const refresh = (): void => {
  for (const resource of held.values()) void resource.reload()
}
