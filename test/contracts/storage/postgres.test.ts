import { storageLayer } from "@rangewright/adapter-storage"
import { afterAll, beforeAll, describe, it } from "vitest"
import { storageContracts } from "./contracts.ts"
import { sharedSlotsContract } from "./shared-slots.contract.ts"
import type { StorageUnderTest } from "./storage-under-test.ts"
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
  const postgres: StorageUnderTest = {
    name: "postgresql",
    empty: async () => {
      for (const statement of emptyTables) await session.run(statement)
      return { layer: storageLayer({ databaseUrl: database.url }), remove: async () => {} }
    },
    // the server's clock cannot be advanced, so the leases' ends are moved back instead
    pass: async (seconds) => void (await session.run(`update runs set lease_until = lease_until - ${seconds * 1000}`)),
  }
  storageContracts(postgres)
  sharedSlotsContract(postgres)
}
