export * from "./action.ts"
export * from "./installation.ts"
export type * from "./legacy.ts"
export * from "./legacy-import.ts"
export * from "./legacy-machines.ts"
export { legacyLine } from "./legacy-values.ts"
export * from "./plan.ts"
export { MigrationActionJson, MigrationRecordJson } from "./json.ts"
export { adminPool, type MoveGuard } from "./machines.ts"
export {
  commandText,
  hostCommands,
  hostFile,
  hostFilePrefix,
  interfacesFolder,
  type HostAction,
  type HostCommand,
} from "./host-files.ts"
export { idleText, MigrationBlocked, renderMigration } from "./render.ts"
export { isNicKey, nicNetwork, nicsAtMost, type NicText, onNetwork } from "./nic.ts"
export { lastVxlanTag, type NetworkPair, networkPairs } from "./layout.ts"
export { movedSettings, nicChange } from "./moves.ts"
export { planMigration } from "./to-sdn.ts"
export { planReturn } from "./to-bridges.ts"
export { type MachineReport, migrationReport, type NicReport } from "./report.ts"
export { type MigrationStatus, migrationStatus } from "./status.ts"
export { undoMigration } from "./undo.ts"
