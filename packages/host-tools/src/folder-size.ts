import * as Effect from "effect/Effect"
import type { Dirent } from "node:fs"
import { lstat, opendir } from "node:fs/promises"
import { join } from "node:path"

/** Cost of a directory entry besides its content, about what it takes on disk: many empty files fill a disk too. */
const entryBytes = 4096
/** Entries read at a time: a tool may have made millions. */
const readAtOnce = 256

/** Entries of a folder; fails when it cannot be read, because its path is too long or its owner denies access. */
async function* entriesOf(path: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(path, { bufferSize: readAtOnce })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
}

/**
 * Bytes of all files below a folder; counting stops beyond `most`. Files deleted meanwhile do not count; a folder that cannot be read
 * counts as too large.
 */
const folderSize = async (folder: string, most: number): Promise<number> => {
  let total = 0
  const pending = [folder]
  let files: string[] = []
  const countFiles = async (): Promise<void> => {
    const sizes = await Promise.all(
      files.map((file) =>
        lstat(file).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    )
    files = []
    total += sizes.reduce((sum, size) => sum + size, 0)
  }
  try {
    for (let path = pending.pop(); path !== undefined && total <= most; path = pending.pop()) {
      for await (const entry of entriesOf(path)) {
        total += entryBytes
        if (entry.isDirectory()) pending.push(join(path, entry.name))
        else if (entry.isFile()) files.push(join(path, entry.name))
        if (files.length >= readAtOnce) await countFiles()
        if (total > most) break
      }
      await countFiles()
    }
  } catch {
    return most + 1
  }
  return total
}

const [lookEveryMillis, lookAtLeastEveryMillis, restForEachLook] = [500, 5000, 20]

/**
 * Returns once these folders hold more than `most` bytes together. Large folders are checked less often, to keep the cost of checking low.
 */
export const untilLarger = (folders: readonly string[], most: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (;;) {
      const before = performance.now()
      if ((yield* Effect.promise(() => sizeOf(folders, most))) > most) return
      const rest = restForEachLook * (performance.now() - before)
      yield* Effect.sleep(Math.min(lookAtLeastEveryMillis, Math.max(lookEveryMillis, rest)))
    }
  })

/** Bytes of all files below these folders; counting stops beyond `most`. More than `most` when something cannot be read. */
export const sizeOf = async (folders: readonly string[], most: number): Promise<number> => {
  let total = 0
  for (const folder of folders) if (total <= most) total += await folderSize(folder, most - total)
  return total
}
