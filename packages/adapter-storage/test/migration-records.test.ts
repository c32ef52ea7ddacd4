import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { MigrationRecords, RecordDamaged } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { onFile, temporaryFolder } from "./support.ts"

const find = MigrationRecords.use((records) => Effect.result(records.find))

it.each(['{"version":1,"zone":"ludus"', '{"version":2}', ""])(
  "a record that cannot be decodedRun (%s) is told from a store that does not work, and is kept",
  async (text) => {
    const file = join(await temporaryFolder(), "data.db")
    await onFile(file, find)
    const database = new DatabaseSync(file)
    database.prepare("insert into migration_records (id, record) values ('networks', ?)").run(text)
    database.close()
    const found = await onFile(file, find)
    expect(found).toMatchObject({ failure: expect.any(RecordDamaged) })
    expect(found).toMatchObject({ failure: { kind: "conflict", hint: expect.stringContaining("migration_records") } })
    expect(await onFile(file, find)).toEqual(found)
  },
)
