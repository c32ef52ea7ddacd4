export { absentLayer, noBuilderLayer, noPackagesLayer, noProviderLayer, noSubscriptionLayer, noVpnLayer } from "./absent.ts"
export { makeMemoryArtifacts, type MemoryArtifacts, memoryArtifactsLayer } from "./artifacts.ts"
export { makeMemoryBuilds, memoryBuilderLayer, type MemoryBuilds, type MemoryScript } from "./builder.ts"
export { memoryContentLayer } from "./content/content-layer.ts"
export { commitTo, makeMemoryContent, type MemoryContent, type MemoryFile, type MemoryFiles } from "./content/memory-content.ts"
export { makeMemoryProvider, type MemoryProvider, memoryProviderLayer } from "./identity-provider.ts"
export { memoryInstallerLayer } from "./library/installer-layer.ts"
export { memoryLibraryLayer } from "./library/library-layer.ts"
export { makeMemoryGalaxy, type MemoryGalaxy, type MemoryRelease, publishTo } from "./library/memory-galaxy.ts"
export { makeMemoryLibrary, type MemoryEntry, type MemoryLibrary } from "./library/memory-library.ts"
export { makeMemoryPackages, type MemoryPackageNode, type MemoryPackages, memoryPackagesLayer } from "./node-packages.ts"
export { communityLicense, licenseLayer, openLicense } from "./license.ts"
export { makeMemoryNames, type MemoryNames, memoryNamesLayer } from "./names.ts"
export { makeMemoryStore, type MemoryStore } from "./storage/memory-store.ts"
export { memoryStorageLayer } from "./storage/storage-layer.ts"
export { mayUsePool } from "./hypervisor/access.ts"
export { memoryHypervisorLayer } from "./hypervisor/hypervisor-layer.ts"
export { templatesLayer as memoryTemplatesLayer } from "./hypervisor/templates.ts"
export {
  addTemplate,
  makeMemoryWorld,
  type MemoryAccount,
  type MemoryCall,
  type MemoryDurations,
  type MemoryFailure,
  type MemoryVm,
  type MemoryWorld,
  writeEntry,
} from "./hypervisor/memory-world.ts"
export { makeMemoryRegistry, type MemoryRegistry, memorySubscriptionLayer, offerRole } from "./subscription.ts"
export { makeMemoryVpn, type MemoryVpn, memoryVpnLayer } from "./vpn.ts"
