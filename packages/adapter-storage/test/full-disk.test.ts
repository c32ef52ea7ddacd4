import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import type { RangeId } from "@rangewright/domain"
import { Ranges, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { expect, it } from "vitest"
import { checkBackup, Database, storageHealth } from "../src/index.ts"
import { aliceWithLab, onFile, temporaryFolder } from "./support.ts"

const lab = "LAB" as RangeId
const large = "x".repeat(3_000_000)

/** Lets the database file grow to so many pages and no further, as a full disk does. */
const limitPages = (pages: number) =>
  Database.use((database) => database.read("limit the file", (db) => sql.raw(`pragma max_page_count = ${pages}`).execute(db)))

it("says that the disk is full, keeps what it acknowledged, and resumes automatically when there is space again", async () => {
  const file = join(await temporaryFolder(), "data.db")
  await onFile(
    file,
    Effect.gen(function* () {
      const ranges = yield* Ranges
      yield* aliceWithLab
      yield* limitPages(1)
      const fault = yield* Effect.flip(ranges.setConfig(lab, large))
      expect(fault).toBeInstanceOf(StorageFault)
      expect(fault.message).toBe("Cannot save the configuration of range LAB: the store is not available (the disk is full)")
      for (let i = 0; i < 3; i++) yield* Effect.flip(ranges.setConfig(lab, large))
      expect((yield* ranges.config(lab))?.text).toBe("ludus: []\n")
      yield* limitPages(1_000_000)
      yield* ranges.setConfig(lab, large)
      expect((yield* ranges.config(lab))?.text).toBe(large)
      yield* storageHealth
    }),
  )
  await Effect.runPromise(checkBackup(file))
})

it("says that the database is read-only, and reads on", async () => {
  const file = join(await temporaryFolder(), "data.db")
  await onFile(
    file,
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const range = yield* aliceWithLab
      const setReadOnly = (on: 0 | 1) =>
        Database.use((database) => database.read("", (db) => sql.raw(`pragma query_only = ${on}`).execute(db)))
      yield* setReadOnly(1)
      expect((yield* Effect.flip(storageHealth)).message).toContain("read-only")
      expect((yield* Effect.flip(ranges.change(lab, { name: "x" }))).message).toContain("read-only")
      expect(yield* ranges.find(lab)).toEqual(range)
      yield* setReadOnly(0)
      yield* storageHealth
      expect((yield* ranges.change(lab, { name: "x" })).name).toBe("x")
    }),
  )
})

it("says that another process holds the file, and goes on when that lets go", async () => {
  const file = join(await temporaryFolder(), "data.db")
  await onFile(
    file,
    Effect.gen(function* () {
      yield* aliceWithLab
      yield* Database.use((database) => database.read("", (db) => sql.raw("pragma busy_timeout = 20").execute(db)))
      const other = new DatabaseSync(file)
      other.exec("begin immediate")
      expect((yield* Effect.flip(storageHealth)).message).toContain("locked by another process")
      expect(yield* (yield* Ranges).list()).toHaveLength(1)
      other.exec("rollback")
      other.close()
      yield* storageHealth
    }),
  )
})
