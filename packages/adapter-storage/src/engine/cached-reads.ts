import type { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import type { StoredRow } from "../schema/table.ts"
import type { PreparedReads } from "./database.ts"
import { writesHere } from "./node-sqlite.ts"
import { isLocked, storageFault } from "./storage-fault.ts"

/** Largest number of entries in one cache; a full one is cleared. */
const mostEntries = 1_000

const keyOf = (parameters: readonly (string | number)[]): string | number | undefined =>
  parameters.length > 1 ? JSON.stringify(parameters) : parameters[0]

/** The results of one read by its parameters, valid since the last observed commit. */
type Cache = Map<string | number | undefined, unknown>

/**
 * Checks whether any connection of any process has committed since the last check, and if so clears the caches. SQLite counts commits for
 * the connection that asks (`data_version`; its own do not count, but a read-only connection has none). Returns how often they were
 * cleared.
 *
 * The check costs more than the rest of a small read, so it stays valid until this process writes or the event loop turns: requests handled
 * in one turn were sent before it, and no commit that another process makes meanwhile was acknowledged to their senders.
 */
const watch = (reader: DatabaseSync, all: readonly Cache[]): (() => number) => {
  const version = reader.prepare("pragma data_version")
  let seen: unknown
  let emptiedTimes = 0
  let holdsSince: number | undefined
  const expire = () => {
    holdsSince = undefined
  }
  return () => {
    if (holdsSince === writesHere()) return emptiedTimes
    const current = version.get()?.["data_version"]
    if (current !== seen) {
      for (const cache of all) cache.clear()
      emptiedTimes += 1
    }
    seen = current
    if (holdsSince === undefined) setImmediate(expire)
    holdsSince = writesHere()
    return emptiedTimes
  }
}

/** Reads through `prepared` on the same connection, and caches the results until anything is committed. */
export const cachedReads = (reader: DatabaseSync, prepared: PreparedReads): PreparedReads => {
  const all: Cache[] = []
  const look = watch(reader, all)
  let latest = 0
  return <A>(doing: string, sql: string, meaning: (rows: readonly StoredRow[]) => A) => {
    const cache = new Map<string | number | undefined, A>()
    all.push(cache)
    const read = prepared(doing, sql, meaning)
    return (...parameters) =>
      Effect.suspend(() => {
        let asked: number
        try {
          asked = latest = look()
        } catch (cause) {
          // the file is locked: the read itself waits for the lock
          return isLocked(cause) ? read(...parameters) : Effect.fail(storageFault(doing, cause))
        }
        const key = keyOf(parameters)
        const known = cache.get(key)
        if (known !== undefined || cache.has(key)) return Effect.succeed(known as A)
        return Effect.map(read(...parameters), (value) => {
          // this fiber yielded meanwhile: these rows may lack a commit that others have seen
          if (asked !== latest) return value
          if (cache.size >= mostEntries) cache.clear()
          cache.set(key, value)
          return value
        })
      })
  }
}
