import { rm } from "node:fs/promises"
import { join } from "node:path"
import { storageLayer } from "@rangewright/adapter-storage"
import { foldRun, rangeSubject } from "@rangewright/domain"
import { Machines, Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { afterEach, describe, expect, it } from "vitest"
import { folderInMemory } from "../support/folder-in-memory.ts"
import { goOn, runUntilDeath } from "./support/crash.ts"
import { makeCrashGate } from "./support/crash-gate.ts"
import { boot, createRange, deploy, endOf, type Lab, makeCompany, startAndWait } from "./support/lab.ts"

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
})

/** The company over an SQLite file. */
const makeStoredCompany = async (): Promise<Lab> => {
  const folder = await folderInMemory()
  folders.push(folder)
  return { ...makeCompany(), storage: storageLayer({ file: join(folder, "rangewright.db") }) }
}

/** What the database contains at the end, read by a process of its own. */
const storedEnd = async (lab: Lab) => {
  const process = boot(lab)
  const stored = await process.runPromise(
    Effect.gen(function* () {
      const [machines, ranges, journal] = [yield* Machines, yield* Ranges, yield* RunJournal]
      const [range] = yield* ranges.list()
      if (range === undefined) return undefined
      const runs = yield* journal.list({ subject: rangeSubject(range.id), limit: 10 })
      const entries = yield* journal.read(runs[0]!.id, 0)
      return {
        state: range.state,
        runs: runs.map(({ status }) => status),
        folded: foldRun(entries).status,
        gaps: entries.filter(({ seq }, i) => seq !== i + 1),
        machines: (yield* machines.ofRange(range.id)).map(
          ({ vmid, name, power, address }) => `${vmid} ${name} ${power} ${address}`,
        ),
        stages: [...(yield* machines.stages(range.id))].map(([vmid, stages]) => `${vmid} ${stages.size}`).toSorted(),
      }
    }),
  )
  await process.dispose()
  return { stored, vms: endOf(lab).vms }
}

describe("a process that dies with SQLite", () => {
  it("leaves a database from which the next one continues to the same end", { timeout: 120_000 }, async () => {
    const whole = await makeStoredCompany()
    const gate = makeCrashGate()
    const process = boot(whole, gate)
    await startAndWait(process, await createRange(whole))
    await process.dispose()
    const end = await storedEnd(whole)
    expect(end.stored).toMatchObject({ state: "SUCCESS", runs: ["success"], folded: "success", gaps: [] })
    for (let at = 7; at < gate.points(); at += 101) {
      const lab = await makeStoredCompany()
      const range = await createRange(lab)
      const deadly = makeCrashGate(at)
      const acknowledged = await runUntilDeath(lab, range, deploy, deadly)
      await goOn(lab, range, deploy, acknowledged)
      expect(await storedEnd(lab), `crashed at ${at}: ${deadly.trace.at(-1)}`).toEqual(end)
    }
  })
})
