export { Database } from "./engine/database.ts"
export { storageLayer, type StorageOptions } from "./storage-layer.ts"
