import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { RunJournal } from "@rangewright/ports"
import { expect, it } from "vitest"
import { countEnded, selectUnfinished } from "../src/repositories/run-queries.ts"
import { onFile, temporaryFolder } from "./support.ts"

it.each([
  ["the unfinished runs", selectUnfinished, "runs_busy_subject_unique"],
  ["the runs that ended lately", countEnded, "runs_ended_index"],
  ["the runs since a time", "select * from runs where started_at >= ? order by ordinal + 0 desc limit 51", "runs_started_index"],
  [
    "the newest run of a range",
    "select * from runs where subject = 'range:LAB' order by ordinal desc limit 1",
    "runs_subject_index",
  ],
])("finding %s does not read all runs", async (_what, sql, index) => {
  const file = join(await temporaryFolder(), "data.db")
  await onFile(
    file,
    RunJournal.use((journal) => journal.unfinished),
  )
  const database = new DatabaseSync(file)
  const steps = database.prepare(`explain query plan ${sql}`).all(...(sql.includes("?") ? [0] : []))
  database.close()
  expect(steps.map(({ detail }) => String(detail))[0]).toMatch(new RegExp(`^SEARCH runs USING (COVERING )?INDEX ${index} `, "u"))
})
