import type { TreeEntry } from "@rangewright/domain"
import type { ArtifactEntry, ContentFault, LibraryFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { onDisk } from "./faults.ts"
import { readPlainFile } from "./walk.ts"

/** The part of an entry that is compared without reading its content. */
const outline = (entry: TreeEntry | ArtifactEntry): string =>
  JSON.stringify(entry.kind === "link" ? [entry.path, entry.target] : [entry.path, entry.executable])

/**
 * Whether a copy in a folder equals what is to be installed, apart from the files in `but`, which `given` and `there` do not include.
 * Contents are read only if everything else is the same, and only up to the first difference.
 */
export const isSame = (
  doing: string,
  folder: string,
  there: readonly TreeEntry[],
  given: readonly ArtifactEntry[],
): Effect.Effect<boolean, LibraryFault | ContentFault> =>
  Effect.gen(function* () {
    const outlines = new Set(there.map(outline))
    if (there.length !== given.length || !given.every((entry) => outlines.has(outline(entry)))) return false
    const sizes = new Map(there.flatMap((entry) => (entry.kind === "file" ? [[entry.path, entry.size] as const] : [])))
    for (const entry of given) {
      if (entry.kind === "link") continue
      const bytes = yield* entry.read
      if (bytes.length !== sizes.get(entry.path)) return false
      const own = yield* onDisk(doing, () => readPlainFile(join(folder, entry.path), bytes.length))
      if (Buffer.compare(bytes, own) !== 0) return false
    }
    return true
  })
