import { type ArtifactLibrary, ContentFetcher, RoleInstaller } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { folderSupply } from "./folder-supply.ts"
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
