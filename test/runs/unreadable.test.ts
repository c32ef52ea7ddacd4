import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { storageLayer } from "@rangewright/adapter-storage"
import { rangeRequest } from "@rangewright/application"
import { installation } from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { makeCrashGate } from "./support/crash-gate.ts"
import { admin, boot, createRange, deploy, endOf, engineOf, type Lab, makeLab, startAndWait } from "./support/lab.ts"
import { move } from "./support/move.ts"
import { makeShop, shopKind } from "./support/shop.ts"

/** A lab on an SQLite file, and direct access to that file. */
const storedLab = async () => {
  const folder = await mkdtemp(join(tmpdir(), "rangewright-journal-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, "data.db")
  const sql = (statement: string, ...values: readonly SQLInputValue[]) => {
    const database = new DatabaseSync(file)
    const rows = database.prepare(statement).all(...values)
    database.close()
    return rows
  }
  const lab: Lab = { ...makeLab(["vm1", "vm2"]), storage: storageLayer({ file }) }
  return { lab, sql }
}

/** A deploy that a process left unfinished. */
const leftDeploy = async () => {
  const { lab, sql } = await storedLab()
  const range = await createRange(lab)
  const first = boot(lab)
  const { id } = await engineOf(first, (engine) =>
    Effect.tap(engine.start(rangeRequest(range, deploy), admin), Effect.sleep(5000)),
  )
  await first.dispose()
  const third = "where run_id = ? and seq = 3"
  const stored = sql(`select * from journal_entries ${third}`, id)[0]
  return {
    lab,
    range,
    id,
    sql,
    change: (column: string, value: SQLInputValue) => sql(`update journal_entries set ${column} = ? ${third}`, value, id),
    event: String(stored?.["event"]),
  }
}

const damaged = {
  "an entry without what belongs to it": ["event", '{"type":"StepStarted","key":"network"}'],
  "an entry that is no JSON": ["event", '{"type":"Resu'],
  "an entry that is no text": ["event", new Uint8Array([1])],
  "an entry without a time": ["at", "then"],
  "an entry without a number": ["seq", "third"],
  "an entry with another number": ["seq", 3000],
} as const

describe("a run with a damaged journal", () => {
  it.each(Object.entries(damaged))("with %s ends as failed, says so, and does not prevent a new one", async (_, wrong) => {
    const { lab, range, id, change } = await leftDeploy()
    change(wrong[0], wrong[1])
    const process = boot(lab)
    const told = await process.runPromise(
      Effect.gen(function* () {
        const [engine, journal, ranges] = [yield* RunEngine, yield* RunJournal, yield* Ranges]
        yield* engine.recover
        while ((yield* journal.find(id))?.status === "running") yield* Effect.sleep(100)
        const [run, shown] = [yield* journal.find(id), (yield* ranges.find(range.id))?.state]
        return { status: run?.status, shown, fault: yield* Effect.flip(engine.state(id)) }
      }),
    )
    const message = expect.stringMatching(`^Cannot read the journal of run ${id}: .*(damaged|missing)`) as string
    expect(told).toMatchObject({ status: "failure", shown: "ERROR", fault: { _tag: "JournalUnreadable", message } })
    expect((await startAndWait(process, range)).state.status).toBe("success")
    expect(endOf(lab).vms.map(({ power }) => power)).toEqual(["running", "running"])
    await process.dispose()
  })

  it("without its last entry ends as failed too, and its followers are told", async () => {
    const { lab, id, sql } = await leftDeploy()
    sql("delete from journal_entries where run_id = ? and seq = (select last_seq from runs where id = run_id)", id)
    const process = boot(lab)
    const told = await process.runPromise(
      Effect.gen(function* () {
        const [engine, journal] = [yield* RunEngine, yield* RunJournal]
        const followed = yield* Effect.flip(engine.wait(id))
        yield* engine.recover
        while ((yield* journal.find(id))?.status === "running") yield* Effect.sleep(100)
        return { followed: followed._tag, status: (yield* journal.find(id))?.status }
      }),
    )
    expect(told).toEqual({ followed: "JournalUnreadable", status: "failure" })
    await process.dispose()
  })

  it("is finished by its kind like any other failed run", async () => {
    const { lab, sql } = await storedLab()
    const shop = makeShop()
    const kind = shopKind(shop, makeCrashGate())
    const first = boot(lab, undefined, undefined, [kind])
    await engineOf(first, (engine) =>
      Effect.tap(
        engine.start(kind.request({ type: "source", id: "corner-shop" }, { items: ["apple"], must: [] }), admin),
        Effect.sleep(1000),
      ),
    )
    await first.dispose()
    sql("update journal_entries set at = 'then' where seq = 2")
    const next = boot(lab, undefined, undefined, [kind])
    await next.runPromise(
      Effect.gen(function* () {
        const journal = yield* RunJournal
        yield* (yield* RunEngine).recover
        while ((yield* journal.unfinished).length > 0) yield* Effect.sleep(100)
      }),
    )
    await next.dispose()
    expect(shop.ends).toEqual(["failure"])
  })
})

/** The plan's first step, with an action unknown to this version. */
const withNewAction = (event: string) => event.replace(/"kind":"[a-z-]+"/u, '"kind":"seal"')

const newer: Readonly<Record<string, (event: string) => string>> = {
  "an event of a type that it does not have": () => '{"type":"Sealed","key":"network"}',
  "an event in a later version of the format": () => '{"type":"Resumed","generation":2,"v":2}',
}

describe("a run of a newer version found by an older one", () => {
  const isLeftAndContinued = async (
    { lab, id, sql }: Pick<Awaited<ReturnType<typeof leftDeploy>>, "lab" | "id" | "sql">,
    understood: () => void,
  ) => {
    const run = () => sql("select status, last_seq, generation, lease_owner from runs where id = ?", id)[0]
    const before = run()
    const older = boot(lab, undefined, { owner: "older" })
    const fault = await older.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        yield* engine.recover
        while (run()?.["lease_owner"] !== null) yield* Effect.sleep(100)
        const left = run()
        // instances look for unfinished runs every few seconds
        for (let i = 0; i < 3; i++) expect(yield* engine.recover).toBe(0)
        expect(run()).toEqual(left)
        return yield* Effect.flip(engine.state(id))
      }),
    )
    expect(run()).toMatchObject({ status: "running", last_seq: before?.["last_seq"] })
    expect(fault).toMatchObject({
      _tag: "JournalUnreadable",
      message: expect.stringContaining("newer version") as string,
      hint: expect.stringContaining("instance of that version") as string,
    })
    understood()
    const one = boot(lab, undefined, { owner: "newer" })
    const end = await one.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        expect(yield* engine.recover).toBe(1)
        return yield* engine.wait(id)
      }),
    )
    expect(end.status).toBe("success")
    await Promise.all([older.dispose(), one.dispose()])
  }

  it.each(Object.entries(newer))("with %s is left to an instance that knows it", async (_, written) => {
    const left = await leftDeploy()
    left.change("event", written(left.event))
    await isLeftAndContinued(left, () => left.change("event", left.event))
  })

  it("with an unknown action in its plan is left to an instance that knows it", async () => {
    const left = await leftDeploy()
    const { id, sql } = left
    const [plan] = sql(`select seq, event from journal_entries where run_id = ? and event like '{"type":"Planned"%'`, id)
    const store = (event: string) =>
      sql("update journal_entries set event = ? where run_id = ? and seq = ?", event, id, Number(plan?.["seq"]))
    const event = String(plan?.["event"])
    expect(withNewAction(event)).not.toBe(event)
    store(withNewAction(event))
    await isLeftAndContinued(left, () => store(event))
  })

  it("is also left when the older one is already working on it", async () => {
    const { lab, sql } = await storedLab()
    const range = await createRange(lab)
    const older = boot(lab, undefined, { owner: "older" })
    const left = await older.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const { id } = yield* engine.start(rangeRequest(range, deploy), admin)
        yield* Effect.sleep(3000)
        // as a newer instance does when it handles a request about the run
        sql(`insert into journal_entries select id, last_seq + 1, 1, '{"type":"Sealed"}' from runs where id = ?`, id)
        sql("update runs set last_seq = last_seq + 1 where id = ?", id)
        const run = () => sql("select status, lease_owner from runs where id = ?", id)[0]
        while (run()?.["lease_owner"] !== null) yield* Effect.sleep(100)
        return run()
      }),
    )
    expect(left).toEqual({ status: "running", lease_owner: null })
    await older.dispose()
  })
})

describe("a run whose own row is damaged", () => {
  it("counts as unfinished: a run about the whole installation does not begin", async () => {
    const { lab, id, sql } = await leftDeploy()
    sql("update runs set status = 'sleeping' where id = ?", id)
    const process = boot(lab, undefined, undefined, [move])
    const end = await engineOf(process, (engine) =>
      Effect.flatMap(engine.start(move.request(installation, {}), admin), ({ id: moving }) => engine.wait(moving)),
    )
    await process.dispose()
    expect([end.status, end.steps.get("one")?.attempt]).toEqual(["failure", 0])
    expect(end.message).toContain(`the row id ${id} of the table runs is damaged`)
  })

  it("counts as unfinished: a run that waits behind it does not begin", async () => {
    const { lab, sql } = await storedLab()
    const range = await createRange(lab)
    const first = boot(lab, undefined, undefined, [move])
    const [moving, waiting] = await engineOf(first, (engine) =>
      Effect.tap(
        Effect.all([engine.start(move.request(installation, {}), admin), engine.start(rangeRequest(range, deploy), admin)]),
        Effect.sleep(1000),
      ),
    )
    await first.dispose()
    sql("update runs set status = 'sleeping' where id = ?", moving.id)
    const next = boot(lab, undefined, undefined, [move])
    const end = await engineOf(next, (engine) => Effect.andThen(engine.recover, engine.wait(waiting.id)))
    await next.dispose()
    expect(end).toMatchObject({ status: "failure", plan: undefined })
    expect(end.message).toContain(`the row id ${moving.id} of the table runs is damaged`)
    expect(endOf(lab).vms).toEqual([])
  })
})
