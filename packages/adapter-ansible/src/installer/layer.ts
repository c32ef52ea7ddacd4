import { type ArtifactLibrary, ContentFetcher, type InstallerFault, RoleInstaller } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { folderSource } from "./folder-source.ts"
import { hostCollections } from "../tool/host-ansible.ts"
import { type GalaxyOptions, galaxySettings, type HostCollectionOptions } from "./galaxy-options.ts"
import { galaxySource } from "./galaxy-source.ts"
import { installerFrom } from "./install.ts"

export interface FolderInstallerOptions extends HostCollectionOptions {
  /** Contains `roles/` and `collections/`. */
  readonly folder: string
}

/** Installs roles and collections from a folder of this host, for sites without a network. */
export const folderInstallerLayer = ({
  folder,
  program = "ansible-galaxy",
  collections = [],
}: FolderInstallerOptions): Layer.Layer<RoleInstaller, never, ArtifactLibrary | ContentFetcher> =>
  Layer.effect(
    RoleInstaller,
    Effect.flatMap(ContentFetcher, (fetcher) =>
      installerFrom(folderSource(folder, fetcher), hostCollections(program, collections)),
    ),
  )

/** Installs roles and collections from a Galaxy server with `ansible-galaxy`. Fails when its folder cannot be used. */
export const galaxyInstallerLayer = (
  options: GalaxyOptions,
): Layer.Layer<RoleInstaller, InstallerFault, ArtifactLibrary | ContentFetcher> =>
  Layer.effect(
    RoleInstaller,
    Effect.flatMap(galaxySource(options), (source) => {
      const { program, collections } = galaxySettings(options)
      return installerFrom(source, hostCollections(program, collections))
    }),
  )
