import { makeMemoryGalaxy, makeMemoryLibrary, memoryInstallerLayer, memoryLibraryLayer } from "@rangewright/adapter-memory"
import type { ArtifactLibrary, RoleInstaller } from "@rangewright/ports"
import * as Layer from "effect/Layer"

export type LibraryPorts = ArtifactLibrary | RoleInstaller

/** Installed templates, roles and collections. */
export const bindLibrary = (): Layer.Layer<LibraryPorts> =>
  memoryInstallerLayer(makeMemoryGalaxy()).pipe(Layer.provideMerge(memoryLibraryLayer(makeMemoryLibrary())))
