import * as Effect from "effect/Effect"
import { lstat, readdir } from "node:fs/promises"
import { join } from "node:path"

/** What an entry takes beside its bytes: many empty files fill a disk too. */
const entryBytes = 512

/** Bytes of all files below a folder, as far as `most`. What goes while it is counted does not count. */
export const folderSize = async (folder: string, most: number): Promise<number> => {
  let total = 0
  const pending = [folder]
  for (let path = pending.pop(); path !== undefined && total <= most; path = pending.pop())
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      total += entryBytes
      const below = join(path, entry.name)
      if (entry.isDirectory()) pending.push(below)
      else if (entry.isFile()) total += (await lstat(below).catch(() => undefined))?.size ?? 0
      if (total > most) break
    }
  return total
}

const lookEveryMillis = 500

/** Returns when a folder holds more than so many bytes. */
export const untilLarger = (folder: string, most: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    while ((yield* Effect.promise(() => folderSize(folder, most))) <= most) yield* Effect.sleep(lookEveryMillis)
  })
