import { folderInstallerLayer, galaxyInstallerLayer, type GalaxyOptions, libraryLayer } from "@rangewright/adapter-ansible"
import { shippedTemplates } from "@rangewright/adapter-packer"
import { limitedLibraryLayer, type Settings } from "@rangewright/application"
import type {
  ArtifactLibrary,
  Blueprints,
  ContentFetcher,
  InstallerFault,
  LibraryFault,
  Ranges,
  RoleInstaller,
  Sources,
  Users,
} from "@rangewright/ports"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import type { Config } from "../config/config.ts"
import { toolOptions } from "./tools.ts"

export type LibraryPorts = ArtifactLibrary | RoleInstaller

/** Sources of content, and services that determine how much a user may keep on this host. */
export type LibraryNeeds = Blueprints | ContentFetcher | Ranges | Settings | Sources | Users

export const galaxyOptions = (config: Config, data: string): GalaxyOptions => ({
  folder: join(data, "galaxy-runs"),
  server: config.galaxyUrl,
  program: config.ansibleGalaxy,
  collections: config.ansibleCollections,
  tools: toolOptions(config),
  ...(config.galaxyToken === undefined ? {} : { token: Redacted.make(config.galaxyToken) }),
})

const installerOf = (
  config: Config,
  data: string,
): Layer.Layer<RoleInstaller, InstallerFault, ArtifactLibrary | ContentFetcher> =>
  config.roleFolder === undefined
    ? galaxyInstallerLayer(galaxyOptions(config, data))
    : folderInstallerLayer({
        folder: config.roleFolder,
        program: config.ansibleGalaxy,
        collections: config.ansibleCollections,
      })

const ownLibrary = (config: Config, data: string): Layer.Layer<ArtifactLibrary, LibraryFault> =>
  libraryLayer({ folder: join(data, "library"), ...(config.shippedTemplates ? { shipped: shippedTemplates } : {}) })

/** Installed templates, roles and collections in the data folder, within their users' limits, and the sources of their requirements. */
export const bindLibrary = (
  config: Config,
  data: string,
): Layer.Layer<LibraryPorts, InstallerFault | LibraryFault, LibraryNeeds> =>
  installerOf(config, data).pipe(Layer.provideMerge(limitedLibraryLayer), Layer.provideMerge(ownLibrary(config, data)))
