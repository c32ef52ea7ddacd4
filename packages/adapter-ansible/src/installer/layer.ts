import { type ArtifactLibrary, ContentFetcher, type InstallerFault, RoleInstaller } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { folderSupply } from "./folder-supply.ts"
import type { GalaxyOptions } from "./galaxy-options.ts"
import { galaxySupply } from "./galaxy-supply.ts"
import { installerFrom } from "./install.ts"

export interface FolderInstallerOptions {
  /** Holds `roles/` and `collections/`. */
  readonly folder: string
}

/** Roles and collections out of a folder of this host, for sites without a network. */
export const folderInstallerLayer = ({
  folder,
}: FolderInstallerOptions): Layer.Layer<RoleInstaller, never, ArtifactLibrary | ContentFetcher> =>
  Layer.effect(
    RoleInstaller,
    Effect.flatMap(ContentFetcher, (fetcher) => installerFrom(folderSupply(folder, fetcher))),
  )

/** Roles and collections from a Galaxy server, by `ansible-galaxy`. Fails when its folder cannot be used. */
export const galaxyInstallerLayer = (
  options: GalaxyOptions,
): Layer.Layer<RoleInstaller, InstallerFault, ArtifactLibrary | ContentFetcher> =>
  Layer.effect(RoleInstaller, Effect.flatMap(galaxySupply(options), installerFrom))
