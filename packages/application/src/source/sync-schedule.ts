import { InvalidInput, parseDuration, type SourceType } from "@rangewright/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const shortestMillis = 5 * 60_000
const longestMillis = 366 * 24 * 3_600_000

/** Relative spread of the next sync: sources with one interval that began together drift apart. */
const jitter = 0.1

const after = (now: number, schedule: string, later: number): Date =>
  new Date(Math.round(now + (parseDuration(schedule) ?? longestMillis) * (1 + jitter * later)))

/** The time of the next sync at this interval: up to a tenth later than requested, to spread the load. */
export const nextSync = (schedule: string) =>
  Effect.gen(function* () {
    return after(yield* Clock.currentTimeMillis, schedule, yield* Random.next)
  })

/** The latest time that `nextSync` could choose. */
export const latestSync = (schedule: string) => Effect.map(Clock.currentTimeMillis, (now) => after(now, schedule, 1))

/** The given schedule, as `Sources` takes it; empty if none was given. */
export const scheduleOf = Effect.fnUntraced(function* (
  type: SourceType,
  input: string | undefined,
): Effect.fn.Return<{ readonly schedule?: string | undefined; readonly nextSyncAt?: Date | undefined }, InvalidInput> {
  const text = input?.trim()
  if (text === undefined) return {}
  if (text === "off" || text === "" || text === "0") return { schedule: undefined, nextSyncAt: undefined }
  const millis = parseDuration(text)
  const problem =
    type === "upload"
      ? "an upload is synced by sending another archive"
      : millis === undefined
        ? "it is not a duration"
        : millis < shortestMillis || millis > longestMillis
          ? "it is too short or too long"
          : undefined
  if (problem === undefined) return { schedule: text, nextSyncAt: yield* nextSync(text) }
  return yield* new InvalidInput({
    what: `Cannot sync the source automatically every ${text.slice(0, 40)}: ${problem}`,
    issues: [{ path: "schedule", message: problem, allowed: "off, or a duration of 5m to 8784h such as 12h" }],
  })
})
