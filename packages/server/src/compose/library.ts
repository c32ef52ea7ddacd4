import { folderInstallerLayer, libraryLayer } from "@rangewright/adapter-ansible"
import type { ArtifactLibrary, ContentFetcher, LibraryFault, RoleInstaller } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import type { Config } from "../config/config.ts"

export type LibraryPorts = ArtifactLibrary | RoleInstaller

/** Installed templates, roles and collections below this folder, and where what they require comes from. */
export const bindLibrary = (config: Config, folder: string): Layer.Layer<LibraryPorts, LibraryFault, ContentFetcher> =>
  folderInstallerLayer({ folder: config.roleFolder ?? "" }).pipe(Layer.provideMerge(libraryLayer({ folder })))
