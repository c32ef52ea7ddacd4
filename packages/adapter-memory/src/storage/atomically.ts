import { type AuditEntry, CurrentAudit, StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { MemoryStore, StoredAuditEntry } from "./memory-store.ts"

type FailureOf<Y> = Y extends Result.Result<unknown, infer E> ? E : never

/** Places of the entries with a key, in the first `upTo` entries: searching a long trail for each request would take most of its time. */
const places = new WeakMap<readonly StoredAuditEntry[], { readonly upTo: number; readonly byKey: Map<string, number> }>()

const placeOf = (audit: readonly StoredAuditEntry[], key: string): number => {
  const { upTo = 0, byKey = new Map<string, number>() } = places.get(audit) ?? {}
  for (let place = upTo; place < audit.length; place++) byKey.set(audit[place]?.key ?? "", place)
  places.set(audit, { upTo: audit.length, byKey })
  const place = byKey.get(key) ?? -1
  // entries before it were removed
  return place >= 0 && audit[place]?.key !== key ? audit.findIndex((kept) => kept.key === key) : place
}

/** Adds an entry, unless one with the draft's key exists: then only its outcome changes. */
export const keepEntry = ({ audit }: MemoryStore, entry: AuditEntry, key?: string): void => {
  const at = key === undefined ? -1 : placeOf(audit, key)
  const kept = audit[at]
  if (kept === undefined) audit.push({ ...entry, id: (audit.at(-1)?.id ?? 0) + 1, key })
  else audit[at] = { ...kept, outcome: entry.outcome }
}

/** Changes of this store. Each runs synchronously, so that no other fiber sees or changes anything in between. */
export const writesTo = (store: MemoryStore) => {
  /** The first change of an audited operation also adds the audit entry: both are there, or neither. */
  const audited = <A, E>(change: (now: Date) => Result.Result<A, E>): Effect.Effect<A, E | StorageFault> =>
    Effect.gen(function* () {
      const now = new Date(yield* Clock.currentTimeMillis)
      const draft = yield* CurrentAudit
      const entry = draft === undefined || draft.kept ? undefined : draft.entry(now)
      if (entry !== undefined && Number.isNaN(entry.at.getTime()))
        return yield* new StorageFault({ doing: "write to the audit trail", because: "the entry has no time" })
      const value = yield* Effect.fromResult(change(now))
      if (draft !== undefined && entry !== undefined) {
        keepEntry(store, entry, draft.key)
        draft.kept = true
      }
      return value
    })
  return {
    /** A change that can be refused: refusals are yielded before anything is written. */
    atomically: <Y extends Result.Result<unknown, unknown>, A>(body: (now: Date) => Generator<Y, A, never>) =>
      // Result.gen infers `unknown` when a body yields nothing; yielded values are possible failures
      audited((now) => Result.gen(() => body(now)) as Result.Result<A, FailureOf<Y>>),
    /** A change that is always made. */
    change: <A>(body: () => A) => audited<A, never>(() => Result.succeed(body())),
  }
}
