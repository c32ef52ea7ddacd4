import { makeMemoryArtifacts, type MemoryArtifacts, type MemoryWorld } from "@rangewright/adapter-memory"
import { deserialize, serialize } from "node:v8"

/** Takes down an object as it is now, and makes copies of that whenever it is called; functions that are members of it are shared. */
export const keptCopy = <T extends object>(original: T): (() => T) => {
  const isShared = ([, value]: readonly [string, unknown]): boolean => typeof value === "function"
  const members = Object.entries(original)
  const shared = Object.fromEntries(members.filter(isShared))
  const data = serialize(Object.fromEntries(members.filter((member) => !isShared(member))))
  return () => ({ ...shared, ...(deserialize(data) as object) }) as T
}

export const copyOfWorld = (world: MemoryWorld): MemoryWorld => keptCopy(world)()

/** A copy of what is installed and of what was fetched; nothing is published or offered to it yet. */
export const copyOfArtifacts = ({ content, library }: MemoryArtifacts): MemoryArtifacts => {
  const { snapshots, pins } = content
  const made = makeMemoryArtifacts()
  return { ...made, content: { ...made.content, ...structuredClone({ snapshots, pins }) }, library: structuredClone(library) }
}
