import { join } from "node:path"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { type RangeId, rangeSubject } from "@rangewright/domain"
import type { RunFilter } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { Database } from "../src/engine/database.ts"
import { selectRuns } from "../src/repositories/list-runs.ts"
import { countEnded, selectUnfinished } from "../src/repositories/run-queries.ts"
import { onFile, temporaryFolder } from "./support.ts"

const range = "LAB" as RangeId

/** What is found, how, and the index that finds it. */
const finds: readonly (readonly [string, string | RunFilter, string])[] = [
  ["the unfinished runs", selectUnfinished, "runs_busy_subject_unique"],
  ["the runs that ended lately", countEnded, "runs_ended_index"],
  ["the newest run of a range", { subject: rangeSubject(range), limit: 1 }, "runs_subject_index"],
  ["the newest deploy of a range", { subject: rangeSubject(range), kinds: ["deploy"], limit: 1 }, "runs_subject_index"],
  ["the runs of ranges", { ranges: [range], limit: 51 }, "runs_range_index"],
  ["the runs of sources and blueprints", { types: ["source", "blueprint"], limit: 500 }, "runs_range_index"],
  ["the runs since a time", { since: new Date(0), limit: 51 }, "runs_started_index"],
  ["the runs with the status running", { statuses: ["running"], limit: 51 }, "runs_busy_subject_unique"],
  ["the next page of all runs", { before: 9, limit: 51 }, "runs_ordinal_unique"],
]

it.each(finds)("finding %s does not read all runs", async (_what, query, index) => {
  const file = join(await temporaryFolder(), "data.db")
  const compiled = await onFile(
    file,
    Effect.flatMap(Database, (database) =>
      database.read("compile", async (db) =>
        typeof query === "string" ? { sql: query, parameters: query.includes("?") ? [0] : [] } : selectRuns(db, query).compile(),
      ),
    ),
  )
  const database = new DatabaseSync(file)
  const parameters = compiled.parameters as readonly SQLInputValue[]
  const steps = database.prepare(`explain query plan ${compiled.sql}`).all(...parameters)
  database.close()
  expect(steps.map(({ detail }) => String(detail))[0]).toMatch(new RegExp(`^SEARCH runs USING (COVERING )?INDEX ${index} `, "u"))
})
