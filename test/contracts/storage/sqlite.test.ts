import { rm } from "node:fs/promises"
import { storageLayer } from "@rangewright/adapter-storage"
import { afterAll } from "vitest"
import { emptyDatabases } from "../../support/empty-databases.ts"
import { storageContracts } from "./contracts.ts"

const databases = await emptyDatabases()
afterAll(databases.remove)

storageContracts({
  name: "sqlite",
  empty: async () => {
    const file = await databases.next()
    return { layer: storageLayer({ file }), remove: () => rm(file) }
  },
})
