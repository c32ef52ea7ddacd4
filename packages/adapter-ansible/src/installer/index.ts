export { folderInstallerLayer, type FolderInstallerOptions } from "./layer.ts"
