import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { storageLayer } from "@rangewright/adapter-storage"
import { storageContracts } from "./contracts.ts"

storageContracts({
  name: "sqlite",
  empty: async () => {
    const folder = await mkdtemp(join(tmpdir(), "rangewright-contract-"))
    return {
      layer: storageLayer({ file: join(folder, "rangewright.db") }),
      remove: () => rm(folder, { recursive: true }),
    }
  },
})
