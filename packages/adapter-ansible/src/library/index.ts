export { kindFolders } from "./layout.ts"
export { libraryLayer, type LibraryOptions } from "./layer.ts"
