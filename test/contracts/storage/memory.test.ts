import { makeMemoryStore, memoryStorageLayer } from "@rangewright/adapter-memory"
import { storageContracts } from "./contracts.ts"

storageContracts({
  name: "memory",
  empty: async () => ({ layer: memoryStorageLayer(makeMemoryStore()), remove: async () => {} }),
})
