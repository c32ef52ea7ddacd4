import { type AuditEntry, CurrentAudit, StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { MemoryStore } from "./memory-store.ts"

type FailureOf<Y> = Y extends Result.Result<unknown, infer E> ? E : never

/** Adds an entry, unless the draft with this key has one: then only the outcome changes. */
export const keepEntry = ({ audit }: MemoryStore, entry: AuditEntry, key?: string): void => {
  const at = key === undefined ? -1 : audit.findIndex((kept) => kept.key === key)
  const kept = audit[at]
  if (kept === undefined) audit.push({ ...entry, id: (audit.at(-1)?.id ?? 0) + 1, key })
  else audit[at] = { ...kept, outcome: entry.outcome }
}

/** Changes of this store. Each runs in one go, so that no other fiber sees or changes anything in between. */
export const writesTo = (store: MemoryStore) => {
  /** The first change of an audited operation takes the entry along: both are there, or neither. */
  const audited = <A, E>(change: (now: Date) => Result.Result<A, E>): Effect.Effect<A, E | StorageFault> =>
    Effect.gen(function* () {
      const now = new Date(yield* Clock.currentTimeMillis)
      const draft = yield* CurrentAudit
      const entry = draft === undefined || draft.kept ? undefined : draft.entry(now)
      if (entry !== undefined && Number.isNaN(entry.at.getTime()))
        return yield* new StorageFault({ doing: "record who did what", because: "the entry has no time" })
      const value = yield* Effect.fromResult(change(now))
      if (draft !== undefined && entry !== undefined) {
        keepEntry(store, entry, draft.key)
        draft.kept = true
      }
      return value
    })
  return {
    /** A change that can be refused: what is yielded before anything is written. */
    atomically: <Y extends Result.Result<unknown, unknown>, A>(body: (now: Date) => Generator<Y, A, never>) =>
      // Result.gen infers `unknown` where a body yields nothing; what is yielded is what can fail
      audited((now) => Result.gen(() => body(now)) as Result.Result<A, FailureOf<Y>>),
    /** A change that is always made. */
    change: <A>(body: () => A) => audited<A, never>(() => Result.succeed(body())),
  }
}
