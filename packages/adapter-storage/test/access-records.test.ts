import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { AccessRecords, RecordDamaged, type Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import { sqliteLayer } from "../src/engine/sqlite.ts"
import { sqliteMigrations } from "../src/migrations/index.ts"
import { usersLayer } from "../src/repositories/users.ts"
import { onFile, temporaryFolder } from "./support.ts"

const held = AccessRecords.use((records) => Effect.result(records.held))
const execute = (file: string, statement: string, ...values: readonly string[]): void => {
  const database = new DatabaseSync(file)
  database.prepare(statement).run(...values)
  database.close()
}

it.each(['{"accounts":{}', '{"accounts":{},"ranges":{"LAB":"alice@pve"}}', "", "[]"])(
  "a record of what is held that cannot be decodedRun (%s) is told from a store that does not work, and is kept",
  async (text) => {
    const file = join(await temporaryFolder(), "data.db")
    await onFile(file, held)
    execute(file, "insert into held_access (id, version, record) values (1, 3, ?)", text)
    const found = await onFile(file, held)
    expect(found).toMatchObject({ failure: expect.any(RecordDamaged) })
    expect(found).toMatchObject({ failure: { kind: "conflict", hint: expect.stringContaining("held_access") } })
    expect(await onFile(file, held)).toEqual(found)
  },
)

it("users of an older version get distinct password versions, and nothing is held", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const before: Layer.Layer<Users, unknown> = usersLayer.pipe(
    Layer.provide(
      sqliteLayer(
        file,
        sqliteMigrations.filter(({ name }) => name < "0020"),
      ),
    ),
  )
  await Effect.runPromise(Effect.scoped(Effect.asVoid(Layer.build(before))))
  for (const [id, number] of [
    ["alice", "2"],
    ["bob", "3"],
  ] as const)
    execute(
      file,
      `insert into users (id, record_id, number, name, email, is_admin, hypervisor_username, hypervisor_realm, has_completed_onboarding,
        created_at, updated_at, token_key) values (?, ?, ?, '', '', 0, ?, 'pve', 0, 0, 0, 'key')`,
      id,
      `user${id}`,
      number,
      id,
    )
  const { users } = await onFile(
    file,
    AccessRecords.use((records) => records.stored),
  )
  expect(users.map(({ account }) => account)).toEqual(["alice@pve", "bob@pve"])
  const versions = users.map(({ passwordVersion }) => passwordVersion)
  expect(new Set(versions).size).toBe(2)
  expect(versions).not.toContain("")
  expect(await onFile(file, held)).toMatchObject({ success: { version: 0, held: { accounts: {}, ranges: {} } } })
})
