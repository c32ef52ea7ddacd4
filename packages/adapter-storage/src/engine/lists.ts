import * as Effect from "effect/Effect"
import { DamagedRow, type StoredRow } from "../schema/table.ts"

/** Number of damaged rows remembered, so that each is logged once. */
const mostTold = 1_000

/** Decodes rows and leaves out damaged ones, so that one does not hide all the others. Each is logged once. */
export const makeReadableRows = () => {
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
