import { readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Settings } from "../options.ts"

const day = 24 * 3600 * 1000

const bytesIn = async (folder: string): Promise<number> => {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  return bytes
}

/** Removes caches that were not fetched for long, and those that many fetches have made large: they come back with the next fetch. */
export const pruneRepositories = async (
  folder: string,
  settings: Pick<Settings, "cacheDays" | "transferBytes">,
): Promise<void> => {
  for (const name of await readdir(folder)) {
    const repository = join(folder, name)
    const { mtimeMs } = await stat(repository)
    if (Date.now() - mtimeMs > settings.cacheDays * day || (await bytesIn(repository)) > 2 * settings.transferBytes)
      await rm(repository, { recursive: true, force: true })
  }
}
