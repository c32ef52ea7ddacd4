import type { ArtifactEntry } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { asContentFault } from "./faults.ts"
import { readPlainFile, walk } from "./walk.ts"

/** Files and links of a folder; contents are read on demand. */
export const folderEntries = async (doing: string, folder: string): Promise<readonly ArtifactEntry[]> =>
  (await walk(folder)).map((entry): ArtifactEntry => {
    if (entry.kind === "link") return entry
    const read = Effect.tryPromise({
      try: () => readPlainFile(join(folder, entry.path), entry.size),
      catch: asContentFault(doing, entry.path),
    })
    return { ...entry, read }
  })
