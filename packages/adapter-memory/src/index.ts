export { communityLicense, licenseLayer, openLicense } from "./license.ts"
export { makeMemoryStore, type MemoryStore } from "./storage/memory-store.ts"
export { memoryStorageLayer } from "./storage/storage-layer.ts"
