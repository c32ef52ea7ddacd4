import { readdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Conflict, type RangeId, rangeSubject, type RunId, type UserId } from "@rangewright/domain"
import { LeaseLost, Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it, onTestFinished } from "vitest"
import { backupTo, checkBackup, releaseRuns } from "../src/index.ts"
import { aliceWithLab, onFile, rangeNames, temporaryFolder } from "./support.ts"

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

it("ends the copy of a large database, however often the service writes meanwhile", { timeout: 30_000 }, async () => {
  const folder = await temporaryFolder()
  const [file, copy] = [join(folder, "data.db"), join(folder, "copy.db")]
  await onFile(file, aliceWithLab)
  // larger than what is copied in one turn of the event loop
  const service = new DatabaseSync(file)
  service.exec(
    "create table ballast as with recursive n (i) as (select 1 union all select i + 1 from n where i < 16384) select zeroblob(1000) from n",
  )
  service.exec("create table writes (n)")
  let writes = 0
  let next: NodeJS.Immediate
  const write = () => {
    service.exec(`insert into writes values (${++writes})`)
    next = setImmediate(write)
  }
  write()
  onTestFinished(() => clearImmediate(next))
  await onFile(file, backupTo(copy))
  const copied = new DatabaseSync(copy).prepare("select count(*) as rows, max(n) as last from writes").get()
  expect(copied?.["rows"]).toBe(copied?.["last"])
  expect(copied?.["last"]).toBeLessThan(writes)
})

it("never overwrites a file with a backup", async () => {
  const folder = await temporaryFolder()
  const there = join(folder, "there")
  await writeFile(there, "precious")
  const refused = await onFile(join(folder, "data.db"), Effect.flip(backupTo(there)))
  expect(refused).toBeInstanceOf(Conflict)
  expect((await stat(there)).size).toBe("precious".length)
})

it("releases the running runs of a backup from their former workers, and lets others claim them", async () => {
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
  const generation = await onFile(
    join(folder, "data.db"),
    Effect.gen(function* () {
      yield* aliceWithLab
      yield* (yield* RunJournal).open({ ...run, startedAt }, undefined)
      const claimed = yield* (yield* RunJournal).claim(run.id, "worker", 60)
      yield* backupTo(copy)
      return claimed ?? 0
    }),
  )
  await onFile(
    copy,
    Effect.gen(function* () {
      yield* releaseRuns
      const stale = (yield* RunJournal).append(run.id, generation, [{ type: "Waiting", reason: "" }], startedAt)
      expect(yield* Effect.flip(stale)).toBeInstanceOf(LeaseLost)
      expect(yield* (yield* RunJournal).claim(run.id, "another", 60)).toBeGreaterThan(generation)
    }),
  )
})

it("knows a file that is no backup, damaged, or of a newer version", async () => {
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
  const reasons = await Effect.runPromise(
    Effect.forEach([garbage, foreign, newer, join(folder, "missing")], (bad) =>
      Effect.map(Effect.flip(checkBackup(bad, "NAMED")), (fault) => fault.message),
    ),
  )
  expect(reasons[0]).toContain("the file is not a database")
  expect(reasons[1]).toContain("not a backup of this service")
  expect(reasons[2]).toContain("9999-tomorrow")
  expect(reasons[3]).toContain("cannot be opened")
  for (const reason of reasons) expect(reason).toContain("the backup NAMED")
  await Effect.runPromise(checkBackup(file))
})
