import { isOwnWork, type LearnedDuration, learnedFrom, type UserId } from "@rangewright/domain"
import { mostDurations, mostOwnDurations, StepDurations } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { writesTo } from "./atomically.ts"
import type { MemoryStore } from "./memory-store.ts"

/** Adds the lessons to these durations, in the order in which they are forgotten. */
const add = (
  known: ReadonlyMap<string, LearnedDuration>,
  lessons: readonly (readonly [string, number])[],
  most: number,
): Map<string, LearnedDuration> => {
  const taught = new Set(lessons.map(([name]) => name))
  const kept = [...known].filter(([name]) => !taught.has(name))
  const added = lessons.map(([name, seconds]) => [name, learnedFrom(known.get(name), seconds)] as const)
  return new Map([...kept, ...added].slice(-most))
}

export const stepDurationsLayer = (store: MemoryStore): Layer.Layer<StepDurations> => {
  const { change } = writesTo(store)
  const seconds = (of: ReadonlyMap<string, LearnedDuration> = new Map()) =>
    [...of].map(([name, duration]) => [name, duration.seconds] as const)
  return Layer.succeed(StepDurations, {
    known: (userId) => Effect.sync(() => new Map([...seconds(store.durations), ...seconds(store.ownDurations.get(userId))])),
    learn: (userId, lessons) =>
      change(() => {
        const own = [...lessons].filter(([name]) => isOwnWork(name))
        const shared = [...lessons].filter(([name]) => !isOwnWork(name))
        store.durations = add(store.durations, shared, mostDurations)
        if (own.length > 0 && store.users.has(userId))
          store.ownDurations.set(userId, add(store.ownDurations.get(userId) ?? new Map(), own, mostOwnDurations))
      }),
  })
}

export const dropDurations = (store: MemoryStore, userId: UserId): void => {
  store.ownDurations.delete(userId)
}
