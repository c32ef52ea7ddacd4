export { galaxyAvailability, type InstallerAvailability } from "./availability.ts"
export type { GalaxyOptions } from "./galaxy-options.ts"
export { folderInstallerLayer, type FolderInstallerOptions, galaxyInstallerLayer } from "./layer.ts"
