import { stat } from "node:fs/promises"
import { join } from "node:path"
import { type RangeId, rangeSubject, type RunId, type UserId } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { aliceWithLab, onFile, temporaryFolder } from "./support.ts"

const at = new Date("2026-03-01T08:00:00.000Z")
const id = "run000000000000" as RunId

/** A page and its header in SQLite's log of writes. */
const page = 1024 + 24

it("writes two pages of the file for an entry of a journal: the entry's and the run's", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const written = await onFile(
    file,
    Effect.gen(function* () {
      yield* aliceWithLab
      const journal = yield* RunJournal
      const head = { id, kind: "deploy", by: "alice" as UserId, options: null, startedAt: at } as const
      yield* journal.open({ ...head, subject: rangeSubject("LAB" as RangeId) }, undefined)
      const size = Effect.promise(async () => (await stat(`${file}-wal`)).size)
      const append = journal.append(id, 0, [{ type: "StepStarted", key: "clone:LAB-kali", attempt: 1 }], at)
      yield* append
      const before = yield* size
      yield* append
      return (yield* size) - before
    }),
  )
  expect(written).toBe(2 * page)
})
