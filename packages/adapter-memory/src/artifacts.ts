import type { Archives, ArtifactLibrary, ContentFetcher, RoleInstaller } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { memoryContentLayer } from "./content/content-layer.ts"
import { makeMemoryContent, type MemoryContent } from "./content/memory-content.ts"
import { memoryInstallerLayer } from "./library/installer-layer.ts"
import { memoryLibraryLayer } from "./library/library-layer.ts"
import { makeMemoryGalaxy, type MemoryGalaxy } from "./library/memory-galaxy.ts"
import { makeMemoryLibrary, type MemoryLibrary } from "./library/memory-library.ts"

/** All that sources, blueprints and roles come from and go to: what can be fetched, what is published, what is installed. */
export interface MemoryArtifacts {
  readonly content: MemoryContent
  readonly galaxy: MemoryGalaxy
  readonly library: MemoryLibrary
}

export const makeMemoryArtifacts = (): MemoryArtifacts => ({
  content: makeMemoryContent(),
  galaxy: makeMemoryGalaxy(),
  library: makeMemoryLibrary(),
})

/** The ports of content and installed artifacts, in memory. */
export const memoryArtifactsLayer = ({
  content,
  galaxy,
  library,
}: MemoryArtifacts): Layer.Layer<Archives | ArtifactLibrary | ContentFetcher | RoleInstaller> =>
  Layer.mergeAll(memoryContentLayer(content), memoryInstallerLayer(galaxy).pipe(Layer.provideMerge(memoryLibraryLayer(library))))
