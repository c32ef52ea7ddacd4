import { signal } from "@preact/signals"
import { follow, type ServerEvent } from "../api/events.ts"
import { throttled } from "../parts/throttled.ts"

/**
 * Changes on the service, received by one tab of a browser and passed on to the others: the tab that holds the lock reads the stream. A
 * browser has six connections to a service over HTTP/1.1; a stream for each tab would use them up.
 */
const events = "/api/v2/events"
const lockName = "rangewright-live"
let channel: BroadcastChannel | undefined

export type Topic = "range" | "machine" | "run" | "notice" | "reset"

/** The subject of an event, and its data. */
export interface LiveEvent {
  readonly topic: Topic
  readonly rangeID?: string
  readonly runID?: string
  readonly data: Readonly<Record<string, unknown>>
}

interface Told {
  readonly events: readonly LiveEvent[]
  readonly since: number | undefined
}

/** Since when the stream is interrupted, in milliseconds; undefined while it is open. */
export const awaySince = signal<number | undefined>(undefined)

const reset: LiveEvent = { topic: "reset", data: {} }

const listeners = new Set<(event: LiveEvent) => void>()

export const onLive = (listener: (event: LiveEvent) => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

let heard: LiveEvent[] = []

/** throttled: many machines may change at once */
const pass = throttled(() => {
  const events = heard
  heard = []
  for (const event of events) for (const listener of listeners) listener(event)
})

const hear = ({ events, since }: Told): void => {
  awaySince.value = since
  if (events.length === 0) return
  heard.push(...events)
  pass()
}

const tell = (told: Told): void => {
  channel?.postMessage(told)
  hear(told)
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const liveEvent = ({ event, data }: ServerEvent): readonly LiveEvent[] => {
  if (event !== "range" && event !== "machine" && event !== "run" && event !== "notice" && event !== "reset") return []
  const members = (typeof data === "object" && data !== null ? data : {}) as Readonly<Record<string, unknown>>
  const rangeID = text(members["rangeID"])
  const runID = text(members["runID"]) ?? (event === "run" ? text(members["id"]) : undefined)
  return [
    { topic: event, data: members, ...(rangeID === undefined ? {} : { rangeID }), ...(runID === undefined ? {} : { runID }) },
  ]
}

/** Longest pause between reconnects, so that people see within a few seconds that the service is back. */
const longestPause = 3_000

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

const lead = async (): Promise<never> => {
  let after = ""
  let pause = 500
  for (;;) {
    try {
      await follow(
        events,
        after,
        new AbortController().signal,
        (batch) => {
          after = batch.findLast(({ id }) => id !== "")?.id ?? after
          tell({ events: batch.flatMap(liveEvent), since: undefined })
        },
        () => {
          pause = 500
          // changes before the stream began are covered by reading everything once
          tell({ events: after === "" ? [reset] : [], since: undefined })
        },
      )
    } catch {
      // reported below: for the user a broken stream and one that did not open are the same
    }
    tell({ events: [], since: awaySince.value ?? Date.now() })
    // so that browsers do not all reconnect at once when the service is back
    await wait(pause * (0.75 + Math.random() / 2))
    pause = Math.min(pause * 2, longestPause)
  }
}

/** Milliseconds between reads while no stream opens; the page then says so. */
const slowly = 30_000

export const startLive = (): void => {
  channel = new BroadcastChannel(lockName)
  channel.addEventListener("message", ({ data }) => hear(data as Told))
  setInterval(() => {
    if (awaySince.value !== undefined && !document.hidden) hear({ events: [reset], since: awaySince.value })
  }, slowly)
  // the lock is held until the tab closes; then the next waiting tab takes over
  void navigator.locks.request(lockName, lead).catch(() => undefined)
}
