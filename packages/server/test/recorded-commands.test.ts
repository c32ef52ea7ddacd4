import { readdirSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { expect, test } from "vitest"
import { makeFolder } from "./support.ts"

const entriesIn = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  const entries = database
    .prepare("select operation, caller_id as caller, outcome, remote from audit_entries order by id")
    .all()
    .map((entry) => ({ ...entry }))
  database.close()
  return entries
}

test("commands that change the installation each leave an audit entry, even if they fail", async () => {
  const folder = makeFolder()
  const done = async (...args: readonly string[]) => (await folder.command(args).ended).status
  await folder.start()
  expect(await done("root-key")).toBe(0)
  await folder.stop()
  expect(await done("rotate-key")).toBe(0)
  expect(await done("rotate-key", "--lost")).toBe(1)
  expect(await done("migrate", "sqlite")).toBe(0)
  const said = { caller: null, remote: "command line" }
  expect(entriesIn(folder.path("rangewright.db"))).toEqual([
    { ...said, operation: "root-key", outcome: "ok" },
    { ...said, operation: "rotate-key", outcome: "ok" },
    { ...said, operation: "rotate-key", outcome: "Conflict" },
    { ...said, operation: "migrate sqlite", outcome: "ok" },
  ])
  const copy = folder.path("copy.tar.gz")
  expect(await done("backup", copy)).toBe(0)
  expect(await done("restore", copy, "--replace")).toBe(0)
  expect(entriesIn(folder.path("rangewright.db")).at(-1)).toEqual({ ...said, operation: "restore", outcome: "ok" })
  rmSync(folder.path(readdirSync(folder.data).find((name) => name.startsWith("set-aside-")) ?? ""), { recursive: true })
  expect(await done("begin-anew")).toBe(0)
  const aside = readdirSync(folder.data).find((name) => name.startsWith("set-aside-")) ?? ""
  const last = { ...said, operation: "begin-anew", outcome: "ok" }
  expect(entriesIn(folder.path(`${aside}/rangewright.db`)).at(-1)).toEqual(last)
}, 120_000)
