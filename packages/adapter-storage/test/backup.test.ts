import { readdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Conflict, type RangeId, rangeSubject, type RunId, type UserId } from "@rangewright/domain"
import { Lease, LeaseLost, Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { backupTo, checkBackup, restoreFrom } from "../src/index.ts"
import { aliceWithLab, newRange, onFile, rangeNames, temporaryFolder } from "./support.ts"

const lab = "LAB" as RangeId

it("backs up while the service writes; the copy is whole and readable by its owner only", async () => {
  const folder = await temporaryFolder()
  const copy = join(folder, "copy.db")
  await onFile(
    join(folder, "data.db"),
    Effect.gen(function* () {
      yield* aliceWithLab
      const ranges = yield* Ranges
      const writes = Effect.forEach(Array.from({ length: 30 }), (_, i) => ranges.change(lab, { purpose: `write ${i}` }))
      yield* Effect.all([backupTo(copy), writes], { concurrency: "unbounded" })
      expect((yield* ranges.find(lab))?.purpose).toBe("write 29")
    }),
  )
  expect((await stat(copy)).mode & 0o777).toBe(0o600)
  expect((await readdir(folder)).filter((name) => name.includes("partial"))).toEqual([])
  expect(await onFile(copy, rangeNames)).toEqual(["LAB"])
})

it("never overwrites a file with a backup", async () => {
  const folder = await temporaryFolder()
  const there = join(folder, "there")
  await writeFile(there, "precious")
  const refused = await onFile(join(folder, "data.db"), Effect.flip(backupTo(there)))
  expect(refused).toBeInstanceOf(Conflict)
  expect((await stat(there)).size).toBe("precious".length)
})

it("restores while the service runs: all rows as they were, a higher revision, no worker of today in a restored run", async () => {
  const folder = await temporaryFolder()
  const copy = join(folder, "copy.db")
  const run = {
    id: "r".repeat(15) as RunId,
    kind: "deploy",
    subject: rangeSubject(lab),
    by: "alice" as UserId,
    options: null,
  } as const
  const startedAt = new Date(0)
  await onFile(
    join(folder, "data.db"),
    Effect.gen(function* () {
      const journal = yield* RunJournal
      const ranges = yield* Ranges
      const before = yield* aliceWithLab
      yield* journal.open({ ...run, startedAt }, undefined)
      const generation = yield* (yield* Lease).claim(run.id, "worker", startedAt, 60)
      const range = yield* ranges.find(before.id)
      yield* backupTo(copy)
      yield* ranges.change(lab, { name: "changed" })
      yield* ranges.setConfig(lab, "other: true\n")
      yield* ranges.create(newRange("LATER"))
      const revision = yield* ranges.revision
      yield* restoreFrom(copy)
      expect(yield* ranges.list()).toEqual([range])
      expect((yield* ranges.config(lab))?.text).toBe("ludus: []\n")
      expect((yield* ranges.grants(lab)).map((grant) => grant.userId)).toEqual(["alice"])
      expect(yield* ranges.revision).toBeGreaterThan(revision)
      const stale = journal.append(run.id, generation ?? 0, [{ type: "Waiting", reason: "" }], startedAt)
      expect(yield* Effect.flip(stale)).toBeInstanceOf(LeaseLost)
      expect(yield* (yield* Lease).claim(run.id, "another", startedAt, 60)).toBeGreaterThan(generation ?? 0)
    }),
  )
  expect((await readdir(folder)).filter((name) => name.includes("restore-"))).toEqual([])
})

it("restores between the writes of the same process", async () => {
  const folder = await temporaryFolder()
  const copy = join(folder, "copy.db")
  await onFile(
    join(folder, "data.db"),
    Effect.gen(function* () {
      const ranges = yield* Ranges
      yield* aliceWithLab
      yield* backupTo(copy)
      yield* ranges.create(newRange("LATER"))
      const writes = Effect.forEach(Array.from({ length: 40 }), (_, i) => ranges.change(lab, { purpose: `write ${i}` }))
      yield* Effect.all([writes, restoreFrom(copy), writes], { concurrency: "unbounded" })
      expect((yield* ranges.list()).map((range) => range.id)).toEqual(["LAB"])
    }),
  )
})

it("changes nothing when the backup is no backup, damaged, or of a newer version", async () => {
  const folder = await temporaryFolder()
  const file = join(folder, "data.db")
  const [garbage, foreign, newer] = ["garbage", "foreign.db", "newer.db"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await writeFile(garbage, "this is no database, but it is long enough to look at".repeat(100))
  new DatabaseSync(foreign).exec("create table something (x)")
  await onFile(file, Effect.andThen(aliceWithLab, backupTo(newer)))
  new DatabaseSync(newer).exec("insert into schema_migrations (name) values ('9999-tomorrow')")
  const reasons = await onFile(
    file,
    Effect.forEach([garbage, foreign, newer, join(folder, "missing")], (bad) =>
      Effect.map(Effect.flip(restoreFrom(bad)), (fault) => fault.message),
    ),
  )
  expect(reasons[0]).toContain("the file is not a database")
  expect(reasons[1]).toContain("not a backup of this service")
  expect(reasons[2]).toContain("9999-tomorrow")
  expect(reasons[3]).toContain("cannot be opened")
  expect(await onFile(file, rangeNames)).toEqual(["LAB"])
  await Effect.runPromise(checkBackup(file))
})
