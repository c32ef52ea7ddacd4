import type { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import type { StoredRow } from "../schema/table.ts"
import type { PreparedReads } from "./database.ts"
import { isLocked, storageFault } from "./storage-fault.ts"

/** Results kept of one read, whatever was asked for; one more and it begins anew. */
const mostKept = 1_000

const keyOf = (parameters: readonly (string | number)[]): string | number | undefined =>
  parameters.length > 1 ? JSON.stringify(parameters) : parameters[0]

/** Every read that is kept knows only what was true at the last look. */
type Kept = Map<string | number | undefined, unknown>

/**
 * Looks whether any connection of any process has committed since the last look, and if so empties what is kept. SQLite counts commits for
 * the connection that asks (`data_version`; its own do not count, but a connection that only reads has none). Returns how often it was emptied.
 *
 * One look holds until the code that asked returns to the event loop: whoever made a change meanwhile can tell nobody here of it before,
 * neither another process, nor a writer of this one, which goes on in a microtask that comes after ours.
 */
const watch = (reader: DatabaseSync, all: readonly Kept[]): (() => number) => {
  const version = reader.prepare("pragma data_version")
  const soon = Promise.resolve()
  let seen: unknown
  let emptied = 0
  let holds = false
  const expire = () => {
    holds = false
  }
  return () => {
    if (holds) return emptied
    const current = version.get()?.["data_version"]
    if (current !== seen) {
      for (const kept of all) kept.clear()
      emptied += 1
    }
    seen = current
    holds = true
    void soon.then(expire)
    return emptied
  }
}

/** Reads through `prepared`, on the same connection, and keeps what they mean until anything is committed. */
export const keptReads = (reader: DatabaseSync, prepared: PreparedReads): PreparedReads => {
  const all: Kept[] = []
  const look = watch(reader, all)
  let latest = 0
  return <A>(doing: string, sql: string, meaning: (rows: readonly StoredRow[]) => A) => {
    const kept = new Map<string | number | undefined, A>()
    all.push(kept)
    const read = prepared(doing, sql, meaning)
    return (...parameters) =>
      Effect.suspend(() => {
        let asked: number
        try {
          asked = latest = look()
        } catch (cause) {
          // somebody else has locked the file: the read itself waits for them
          return isLocked(cause) ? read(...parameters) : Effect.fail(storageFault(doing, cause))
        }
        const key = keyOf(parameters)
        const known = kept.get(key)
        if (known !== undefined) return Effect.succeed(known)
        return Effect.map(read(...parameters), (value) => {
          // this fiber has yielded since, and others have seen a commit that these rows may lack
          if (asked !== latest) return value
          if (kept.size >= mostKept) kept.clear()
          kept.set(key, value)
          return value
        })
      })
  }
}
