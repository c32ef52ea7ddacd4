import { storageLayer } from "@rangewright/adapter-storage"
import { afterAll, beforeAll, describe, it } from "vitest"
import { storageContracts } from "./contracts.ts"
import { createDatabase, emptyTables, noServer, openSession, testServer } from "./postgres-server.ts"

if (testServer === undefined) describe("postgresql", () => it.skip(noServer, () => {}))
else {
  const server = testServer
  let database: Awaited<ReturnType<typeof createDatabase>>
  let session: ReturnType<typeof openSession>
  beforeAll(async () => {
    database = await createDatabase(server)
    session = openSession(database.url)
  })
  afterAll(async () => {
    await session.close()
    await database.drop()
  })
  storageContracts({
    name: "postgresql",
    empty: async () => {
      for (const statement of emptyTables) await session.run(statement)
      return { layer: storageLayer({ databaseUrl: database.url }), remove: async () => {} }
    },
  })
}
