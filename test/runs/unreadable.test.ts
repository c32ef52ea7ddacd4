import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { storageLayer } from "@rangewright/adapter-storage"
import { rangeRequest } from "@rangewright/application"
import { Ranges, RunJournal } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { admin, boot, createRange, deploy, endOf, engineOf, makeLab, startAndWait } from "./support/lab.ts"

/** A deploy that a process left in its middle, and whose third journal entry is this by now. */
const leftWith = async (entry: string) => {
  const folder = await mkdtemp(join(tmpdir(), "rangewright-journal-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, "data.db")
  const lab = { ...makeLab(["vm1", "vm2"]), storage: storageLayer({ file }) }
  const range = await createRange(lab)
  const first = boot(lab)
  const { id } = await engineOf(first, (engine) =>
    Effect.tap(engine.start(rangeRequest(range, deploy), admin), Effect.sleep(5000)),
  )
  await first.dispose()
  const database = new DatabaseSync(file)
  database.prepare("update journal_entries set event = ? where run_id = ? and seq = 3").run(entry, id)
  database.close()
  return { lab, range, id }
}

describe("a run with a journal entry that this version does not know", () => {
  it.each([
    ["of a kind that it does not have", '{"type":"Sealed","key":"network"}'],
    ["in a later version of the format", '{"type":"Resumed","generation":2,"v":2}'],
    ["without what belongs to it", '{"type":"StepStarted","key":"network"}'],
    ["that is no JSON", '{"type":"Resu'],
  ])("%s ends as failed, says so by name, and keeps nobody from starting a new one", async (_, entry) => {
    const { lab, range, id } = await leftWith(entry)
    const message = `Cannot read the journal of run ${id}: this version does not know what its entry 3 means`
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
    expect(told).toMatchObject({ status: "failure", shown: "ERROR", fault: { _tag: "JournalUnreadable", message } })
    expect((await startAndWait(process, range)).state.status).toBe("success")
    expect(endOf(lab).vms.map(({ power }) => power)).toEqual(["running", "running"])
    await process.dispose()
  })
})
