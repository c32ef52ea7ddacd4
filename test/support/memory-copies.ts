import { makeMemoryArtifacts, makeMemoryWorld, type MemoryArtifacts, type MemoryWorld } from "@rangewright/adapter-memory"

/** A copy of a world; what it prints, lists and fails is as in a new one. */
export const copyOfWorld = (world: MemoryWorld): MemoryWorld => {
  const { fault: _fault, listed: _listed, print: _print, windowsReport: _report, ...data } = world
  return { ...makeMemoryWorld(), ...structuredClone(data) }
}

/** A copy of what is installed and of what was fetched; nothing is published or offered to it yet. */
export const copyOfArtifacts = ({ content, library }: MemoryArtifacts): MemoryArtifacts => {
  const { snapshots, pins } = content
  const made = makeMemoryArtifacts()
  return { ...made, content: { ...made.content, ...structuredClone({ snapshots, pins }) }, library: structuredClone(library) }
}
