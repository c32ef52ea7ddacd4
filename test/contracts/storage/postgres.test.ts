import { storageLayer } from "@rangewright/adapter-storage"
import { describe, it } from "vitest"
import { storageContracts } from "./contracts.ts"
import { emptyDatabase, noServer, testServer } from "./postgres-server.ts"

if (testServer === undefined) describe("postgresql", () => it.skip(noServer, () => {}))
else {
  const server = testServer
  storageContracts({
    name: "postgresql",
    empty: async () => {
      const { url, remove } = await emptyDatabase(server)
      return { layer: storageLayer({ databaseUrl: url }), remove }
    },
  })
}
