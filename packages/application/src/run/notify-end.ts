import { type Conclusion, notifiedAtMost, rangeOf, readDestination, type RunHead, type RunState } from "@rangewright/domain"
import { type LeaseLost, Notifications } from "@rangewright/ports"
import { retryStorage } from "@rangewright/run-engine"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { deployedConfig } from "../range/read-config.ts"

/**
 * Notifies those whom the configuration of the deploy names that it has ended, all at once. May be repeated: those whom the journal calls
 * notified are not notified again.
 */
export const notifyEnd = (
  head: RunHead,
  { notified }: RunState,
  end: Conclusion,
  told: (to: string, because: string | undefined) => Effect.Effect<void, LeaseLost>,
) =>
  Effect.gen(function* () {
    const notifications = yield* Notifications
    const rangeId = rangeOf(head)
    if (rangeId === undefined) return
    const endedAt = new Date(yield* Clock.currentTimeMillis)
    const about = { ...end, rangeId, host: notifications.host, startedAt: head.startedAt, endedAt }
    const notify = Effect.fnUntraced(function* (url: string, index: number) {
      const destination = readDestination(url)
      const place = `notify.urls[${index}]`
      const to = destination.state === "usable" ? `${destination.name} (${place})` : place
      if (notified.has(to)) return
      if (destination.state === "unusable") return yield* told(to, `${destination.because}. Use ${destination.allowed}`)
      yield* told(to, yield* notifications.send(destination.notify(about)))
    })
    const urls = (yield* retryStorage(deployedConfig(rangeId)))?.notify?.urls ?? []
    yield* Effect.forEach(urls.slice(0, notifiedAtMost), notify, { concurrency: "unbounded", discard: true })
  })
