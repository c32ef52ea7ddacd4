import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { RangeId, RunId, UserId } from "@rangewright/domain"
import { AccessRecords, Machines, Ranges, RunJournal, Sources, StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { aliceWithLab, newRange, onFile, temporaryFolder } from "./support.ts"

const lab = "LAB" as RangeId
const other = "OTHER" as RangeId

/** A store with two ranges of alice, after somebody else wrote into its file. */
const damagedBy = async (sql: string): Promise<string> => {
  const file = join(await temporaryFolder(), "data.db")
  await onFile(
    file,
    Effect.andThen(
      aliceWithLab,
      Ranges.use((ranges) => ranges.create(newRange("OTHER"))),
    ),
  )
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
  return file
}

const unknownState = `update ranges set state = 'PAUSED' where id = 'LAB'`

describe("a row that this version does not understand", () => {
  it("fails the reads of its record with a fault that says where it is and what is wrong, and no others", async () => {
    const file = await damagedBy(unknownState)
    const [fault, whole] = await onFile(
      file,
      Ranges.use((ranges) => Effect.all([Effect.flip(ranges.find(lab)), ranges.find(other)])),
    )
    expect(fault).toBeInstanceOf(StorageFault)
    expect(fault).toMatchObject({ kind: "failed", facts: { damaged: true } })
    expect(fault.message).toBe(
      'Cannot read ranges: the row id LAB of the table ranges is damaged: in state, "PAUSED" is not what this version understands',
    )
    expect(whole?.id).toBe(other)
  })

  it("is left out of displayed lists, but fails those that decisions are based on", async () => {
    const file = await damagedBy(unknownState)
    const [shown, listed] = await onFile(
      file,
      Ranges.use((ranges) => Effect.all([ranges.overview({}), Effect.flip(ranges.list())])),
    )
    expect(shown.map(({ range }) => range.id)).toEqual([other])
    expect(listed).toBeInstanceOf(StorageFault)
  })

  it("is read again as soon as it is corrected", async () => {
    const file = await damagedBy(unknownState)
    const state = await onFile(
      file,
      Effect.gen(function* () {
        const ranges = yield* Ranges
        yield* Effect.flip(ranges.find(lab))
        const database = new DatabaseSync(file)
        database.exec(`update ranges set state = 'ERROR' where id = 'LAB'`)
        database.close()
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        return (yield* ranges.find(lab))?.state
      }),
    )
    expect(state).toBe("ERROR")
  })

  it("is not changed: a change whose result cannot be read back is undone", async () => {
    const file = await damagedBy(unknownState)
    await onFile(file, Effect.flip(Ranges.use((ranges) => ranges.change(lab, { name: "new" }))))
    const database = new DatabaseSync(file)
    expect(database.prepare("select name from ranges where id = 'LAB'").get()).toEqual({ name: "LAB" })
    database.close()
  })

  it.each([
    ["an id", `update users set default_range_id = '../etc' where id = 'alice'`],
    ["a flag", `update users set is_admin = 7 where id = 'alice'`],
    ["a time", `update users set created_at = 'then' where id = 'alice'`],
    ["a number", `update users set number = 'two' where id = 'alice'`],
  ])("may have %s of another form", async (_, sql) => {
    const file = await damagedBy(sql)
    const fault = await onFile(file, Effect.flip(Users.use((users) => users.find("alice" as UserId))))
    expect(fault).toMatchObject({ facts: { damaged: true }, message: expect.stringContaining("the row id alice") as string })
    expect(
      await onFile(
        file,
        Users.use((users) => users.list),
      ),
    ).toEqual([])
  })

  it("revokes nobody's access: if one row that access is derived from is damaged, nothing is derived", async () => {
    const file = await damagedBy(`update users set is_admin = 7 where id = 'alice'`)
    expect(await onFile(file, Effect.flip(AccessRecords.use(({ stored }) => stored)))).toBeInstanceOf(StorageFault)
  })

  it("is rewritten by the next observation if it describes a machine", async () => {
    const at = new Date("2026-03-01T08:00:00.000Z")
    const machine = {
      node: "n",
      name: "dc",
      power: "running",
      template: true,
      pool: "LAB",
      cpus: 1,
      memoryMiB: 1,
      tags: [],
    } as const
    const seen = { at, nodes: [], storages: [], machines: [{ ...machine, vmid: 100 as never }] }
    const file = await damagedBy("select 1")
    await onFile(
      file,
      Machines.use((machines) => machines.replace(seen)),
    )
    const database = new DatabaseSync(file)
    database.exec(`update machines set power = 'humming', tags = '{"a":1}'; update observation set cluster = '{"nodes":7}'`)
    database.close()
    const [ofCluster, ofTemplates, cluster, templates] = await onFile(
      file,
      Machines.use((machines) =>
        Effect.all([
          Effect.flip(machines.cluster),
          Effect.flip(machines.templates),
          Effect.andThen(machines.replace(seen), machines.cluster),
          machines.templates,
        ]),
      ),
    )
    expect(ofCluster).toMatchObject({ facts: { damaged: true } })
    expect(ofTemplates).toMatchObject({ facts: { damaged: true } })
    expect(cluster).toEqual({ at, nodes: [], storages: [], machineCount: 1 })
    expect(templates).toEqual(seen.machines)
  })

  it("lets the other unfinished runs continue, and does not count as ended", async () => {
    const at = new Date(1)
    const head = { kind: "deploy", by: "alice" as UserId, options: null, startedAt: at }
    const ids = ["run000000000001" as RunId, "run000000000002" as RunId] as const
    const file = await damagedBy("select 1")
    await onFile(
      file,
      RunJournal.use((journal) =>
        Effect.andThen(
          journal.open({ ...head, id: ids[0], subject: { type: "range", id: lab } }, undefined),
          journal.open({ ...head, id: ids[1], subject: { type: "range", id: other } }, undefined),
        ),
      ),
    )
    const database = new DatabaseSync(file)
    database.exec(`update runs set status = 'sleeping' where id = '${ids[0]}'`)
    database.close()
    const [fault, unfinished, recoverable] = await onFile(
      file,
      RunJournal.use((journal) =>
        Effect.all([Effect.flip(journal.find(ids[0])), Effect.flip(journal.unfinished), journal.recoverable]),
      ),
    )
    expect(fault).toMatchObject({ facts: { damaged: true } })
    expect(unfinished).toMatchObject({ facts: { damaged: true }, message: expect.stringContaining(`id ${ids[0]}`) as string })
    expect(recoverable.map(({ id }) => id)).toEqual([ids[1]])
  })

  it("lets the other sources be synced", async () => {
    const columns = `owner, type, url, ref, path, name, description, homepage, license, authors, last_sync_status, last_sync_error,
      next_sync_at, created_at`
    const values = (type: string) => `'alice', '${type}', '', '', '', '', '', '', '', '[]', '', '', 1, 1`
    const file = await damagedBy(
      `insert into sources (record_id, id, ${columns}) values ('source000000001', 'a', ${values("git")}), ('source000000002', 'b', ${values("ftp")})`,
    )
    const due = await onFile(
      file,
      Sources.use((sources) => sources.due(new Date(2))),
    )
    expect(due.map(({ id }) => id)).toEqual(["a"])
  })
})
