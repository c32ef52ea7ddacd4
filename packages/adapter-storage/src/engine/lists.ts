import * as Effect from "effect/Effect"
import { DamagedRow, type StoredRow } from "../schema/table.ts"

/** Damaged rows that are remembered as logged. */
const mostTold = 1_000

/** What rows mean, without the damaged ones: one of them must not take all the others from everybody. The log says each once. */
export const makeShown = () => {
  const told = new Set<string>()
  const tell = (message: string) => {
    if (told.has(message) || told.size >= mostTold) return Effect.void
    told.add(message)
    return Effect.logError(`Left out of a list: ${message}`)
  }
  return <A>(rows: readonly StoredRow[], meaning: (row: StoredRow) => A): Effect.Effect<readonly A[]> =>
    Effect.suspend(() => {
      const damaged: string[] = []
      const found = rows.flatMap((row) => {
        try {
          return [meaning(row)]
        } catch (cause) {
          if (!(cause instanceof DamagedRow)) throw cause
          damaged.push(cause.message)
          return []
        }
      })
      return damaged.length === 0 ? Effect.succeed(found) : Effect.as(Effect.forEach(damaged, tell), found)
    })
}
