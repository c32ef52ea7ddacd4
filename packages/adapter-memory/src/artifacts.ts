import type {
  Archives,
  ArtifactLibrary,
  BuilderFiles,
  ContentFetcher,
  RoleInstaller,
  SubscriptionProvider,
} from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { memoryContentLayer } from "./content/content-layer.ts"
import { makeMemoryContent, type MemoryContent } from "./content/memory-content.ts"
import { memoryInstallerLayer } from "./library/installer-layer.ts"
import { memoryLibraryLayer } from "./library/library-layer.ts"
import { makeMemoryGalaxy, type MemoryGalaxy } from "./library/memory-galaxy.ts"
import { makeMemoryLibrary, type MemoryLibrary } from "./library/memory-library.ts"
import { makeMemoryRegistry, type MemoryRegistry, memorySubscriptionLayer } from "./subscription.ts"

/** All places of content: what can be fetched, what is published, what subscribers are offered, and what is installed. */
export interface MemoryArtifacts {
  readonly content: MemoryContent
  readonly galaxy: MemoryGalaxy
  readonly library: MemoryLibrary
  readonly registry: MemoryRegistry
}

export const makeMemoryArtifacts = (): MemoryArtifacts => ({
  content: makeMemoryContent(),
  galaxy: makeMemoryGalaxy(),
  library: makeMemoryLibrary(),
  registry: makeMemoryRegistry(),
})

/** The ports for content and installed artifacts, in memory. */
export const memoryArtifactsLayer = ({
  content,
  galaxy,
  library,
  registry,
}: MemoryArtifacts): Layer.Layer<
  Archives | ArtifactLibrary | BuilderFiles | ContentFetcher | RoleInstaller | SubscriptionProvider
> =>
  Layer.mergeAll(
    memoryContentLayer(content),
    memoryInstallerLayer(galaxy).pipe(Layer.provideMerge(memoryLibraryLayer(library))),
    memorySubscriptionLayer(registry),
  )
