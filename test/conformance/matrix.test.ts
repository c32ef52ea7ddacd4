import { operation, operations, type Operation } from "@rangewright/application"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { withoutOperation, withoutRow } from "./access-table.ts"
import { stored, type Headers } from "./ask.ts"
import { voidCredentials } from "./callers.ts"
import { cellsOf, wrongWith } from "./cells.ts"
import { startWholeService, type WholeService } from "./service.ts"

/** An operation declared open to every caller, as if its handler forgot to check. */
const planted = operation({
  id: "planted",
  does: "plant",
  route: "POST /planted",
  group: "Range",
  summary: "planted",
  access: "user",
  target: "none",
  body: { type: "json", required: false, schema: Schema.Struct({ rangeID: Schema.optionalKey(Schema.String) }) },
  output: { type: "json", schema: Schema.Struct({}) },
  statuses: { 200: "done" },
  handle: () => Effect.succeed({}),
})

let shared: WholeService
let kinds: Readonly<Record<string, Headers>>
let untouched: string
let cells = 0
beforeAll(async () => {
  shared = await startWholeService({ more: [planted] })
  kinds = await voidCredentials(shared)
  untouched = stored(shared)
})
afterAll(async () => {
  expect(shared.defects).toEqual([])
  await shared.stop()
})

const wrongCells = async (asked: Operation): Promise<readonly string[]> => {
  const wrong: string[] = []
  for (const cell of cellsOf(shared, asked, kinds)) {
    cells++
    const found = await wrongWith(shared, startWholeService, asked, cell)
    if (found !== undefined) wrong.push(found)
  }
  const left = stored(shared)
  if (left !== untouched) wrong.push(`${asked.id}: what is refused, or only reads, left something behind`)
  untouched = left
  return wrong
}

describe("the access matrix", () => {
  it("has a row for every operation and no others", () => {
    expect(withoutRow(operations)).toEqual([])
    expect(withoutOperation(operations)).toEqual([])
  })

  it("reports a new operation that has no row and no selectors", async () => {
    expect(withoutRow([...operations, planted])).toEqual(["planted"])
    expect(() => cellsOf(shared, planted, kinds)).toThrow("planted has no row in the access matrix")
    const known = { ...planted, id: "listRange" }
    expect(() => cellsOf(shared, known, kinds)).toThrow("listRange has no cells for rangeID in its body")
  })

  it("reports an operation that lets in a caller whom its row refuses", async () => {
    // under the id of an operation whose row is for administrators
    const disguised: Operation = { ...planted, id: "getSDNMigrationReport", input: { ...planted.input, body: { type: "none" } } }
    const wrong = await wrongCells(disguised)
    expect(wrong).toContain("getSDNMigrationReport, stranger, with a key: 200 instead of 403")
    expect(wrong).toContain("getSDNMigrationReport, member, with a token: 200 instead of 403")
  })

  it.each(operations.map((asked) => [asked.id, asked] as const))("every cell is right for %s", async (_id, asked) => {
    expect(await wrongCells(asked)).toEqual([])
  })

  it("has the number of cells that its reviews counted", () => {
    expect(cells).toBeGreaterThan(15_000)
  })
})
