import { makeMemoryStore, memoryStorageLayer } from "@rangewright/adapter-memory"
import { storageContracts } from "./contracts.ts"
import { sharedSlotsContract } from "./shared-slots.contract.ts"
import type { StorageUnderTest } from "./storage-under-test.ts"

const memory: StorageUnderTest = {
  name: "memory",
  empty: async () => ({ layer: memoryStorageLayer(makeMemoryStore()), remove: async () => {} }),
}
storageContracts(memory)
sharedSlotsContract(memory)
