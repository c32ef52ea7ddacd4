import { DatabaseSync } from "node:sqlite"
import { expect, test } from "vitest"
import { makeFolder } from "./support.ts"

/** What the command says of a database that was changed so after the service had run on it. */
const doctorOn = async (change: string) => {
  const folder = makeFolder()
  await folder.start()
  await folder.stop()
  const database = new DatabaseSync(folder.path("rangewright.db"))
  database.exec(change)
  database.close()
  const { status, output } = await folder.command(["doctor"]).ended
  const lines = output.split("\n")
  const at = lines.findIndex((line) => line.includes(" database: "))
  return { status, told: lines.slice(at, at + 2) }
}

test("doctor fails on a database that a newer version wrote, also on the simulator: the service does not start on it", async () => {
  expect(await doctorOn("insert into schema_migrations (name) values ('9999-tomorrow')")).toEqual({
    status: 1,
    told: [
      "FAIL  database: it was written by a newer version, which applied 9999-tomorrow: start that version, or restore an older backup",
      expect.stringMatching(/-> The service does not start while its database cannot be opened\.$/u),
    ],
  })
})

test("doctor accepts a database of an older version, and leaves it as it is", async () => {
  const older = "delete from schema_migrations where name = (select max(name) from schema_migrations)"
  expect(await doctorOn(older)).toMatchObject({
    status: 0,
    told: ["ok    database: it is of an older version, and the service updates it when it starts", expect.anything()],
  })
})
