import type { Dependencies } from "@rangewright/domain"
import type { ArtifactEntry } from "@rangewright/ports"

/** One published version: its files and dependencies. */
export interface MemoryRelease extends Partial<Dependencies> {
  readonly entries: readonly ArtifactEntry[]
}

/** What can be installed, by name and version. Tests and embedders fill it. */
export interface MemoryGalaxy {
  readonly roles: Map<string, Map<string, MemoryRelease>>
  readonly collections: Map<string, Map<string, MemoryRelease>>
}

export const makeMemoryGalaxy = (): MemoryGalaxy => ({ roles: new Map(), collections: new Map() })

export const publishTo = (
  galaxy: MemoryGalaxy,
  type: "role" | "collection",
  name: string,
  version: string,
  release: MemoryRelease,
): void => {
  const place = type === "role" ? galaxy.roles : galaxy.collections
  place.set(name, (place.get(name) ?? new Map<string, MemoryRelease>()).set(version, release))
}
