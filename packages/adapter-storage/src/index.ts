export { Database } from "./engine/database.ts"
export { databaseClockLayer } from "./engine/database-clock.ts"
export { holdName } from "./engine/hold-name.ts"
export { legacyLayer } from "./legacy/legacy-layer.ts"
export { backupTo, checkBackup, removeDatabase } from "./maintenance/backup.ts"
export { hasNoLinks, publishFile } from "./maintenance/publish.ts"
export { sealAnew, sealedTexts } from "./maintenance/sealed-texts.ts"
export {
  adoptSealingKey,
  apiKeyHash,
  hasUsers,
  keepSealedRootKey,
  type SealingKey,
  sealingKey,
} from "./maintenance/sealing-key.ts"
export { storageHealth } from "./maintenance/health.ts"
export { fillFrom, installationRunIn, releaseRuns, requireEmpty, snapshotsInUse } from "./maintenance/restore.ts"
export { storageLayer, type StorageOptions } from "./storage-layer.ts"
