import { operations, type Operation } from "@rangewright/application"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ask } from "./ask.ts"
import { bodyOf, needsOf, pathOf, refusalOf, sampleOf } from "./requests.ts"
import { startWholeService, type WholeService } from "./service.ts"
import { sqliteDatabases } from "./sqlite-storage.ts"

// operations that are always refused change nothing that an entry could record
const audited = operations.filter(
  (operation) =>
    (operation.mutates || operation.recordedFirst) && operation.access !== "anonymous" && refusalOf(operation) === undefined,
)

const call = async (service: WholeService, operation: Operation) => {
  const sample = sampleOf(operation, service.runId)
  const query = {
    ...(operation.target === "range" ? { rangeID: "R1" } : {}),
    ...(sample.adminActsAs === undefined ? {} : { userID: sample.adminActsAs }),
  }
  const init = bodyOf(operation, sample)
  const response = await ask(service.url + pathOf(operation, { ...sample, query: { ...sample.query, ...query } }), {
    ...init,
    method: operation.route.method,
    headers: { "x-api-key": service.keys.admin, ...(init.headers as Record<string, string>) },
  })
  return { status: response.status, text: await response.text() }
}

/** All rows except those of the audit trail and the times of last activity. */
const rowsOf = (file: string): string => {
  const database = new DatabaseSync(file, { readOnly: true })
  const tables = database
    .prepare(
      "select name from sqlite_master where type = 'table' and name not in ('audit_entries', 'sqlite_sequence') order by 1",
    )
    .all()
  const rows = tables.map(({ name }) => [name, database.prepare(`select * from "${String(name)}"`).all()])
  database.close()
  return JSON.stringify(rows, (key, value: unknown) => (key === "last_active_at" ? undefined : value))
}

let databases: Awaited<ReturnType<typeof sqliteDatabases>>
beforeAll(async () => {
  databases = await sqliteDatabases()
})
afterAll(() => databases.remove())

describe.each(audited.map((operation) => [operation.id, operation] as const))("%s", (id, operation) => {
  it("leaves one audit entry", async () => {
    const service = await startWholeService({ ...needsOf(operation) })
    const { status, text } = await call(service, operation)
    expect([200, 201], text).toContain(status)
    expect(service.store.audit.map(({ operation: of, callerId, outcome }) => [of, callerId, outcome])).toEqual([[id, "AD", "ok"]])
    await service.stop()
  })

  it("changes nothing if its entry cannot be written", async () => {
    const { file, storage, seeded } = await databases.next()
    const service = await startWholeService({ ...needsOf(operation), storage, seeded })
    const database = new DatabaseSync(file)
    database.exec("create trigger no_entries before insert on audit_entries begin select raise(abort, 'no entries'); end")
    database.close()
    const before = rowsOf(file)
    const installed = JSON.stringify([...service.artifacts.library.artifacts.keys()])
    const { status, text } = await call(service, operation)
    expect([status, text]).toEqual([502, expect.stringContaining("no entries")])
    expect(rowsOf(file)).toBe(before)
    expect(JSON.stringify([...service.artifacts.library.artifacts.keys()])).toBe(installed)
    expect(service.defects).toEqual([])
    await service.stop()
  })
})
