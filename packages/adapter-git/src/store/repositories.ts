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

interface Cache {
  readonly folder: string
  readonly fetchedAt: number
  readonly bytes: number
}

const cacheAt = async (folder: string): Promise<Cache> => ({
  folder,
  fetchedAt: (await stat(folder)).mtimeMs,
  bytes: await bytesIn(folder),
})

/**
 * Removes caches that were not fetched for long, those that many fetches have made large, and the longest unused of those that are too
 * large together: they come back with the next fetch.
 */
export const pruneRepositories = async (
  folder: string,
  settings: Pick<Settings, "cacheDays" | "cacheBytes" | "transferBytes">,
): Promise<void> => {
  const caches = await Promise.all((await readdir(folder)).map((name) => cacheAt(join(folder, name))))
  let kept = 0
  for (const cache of caches.toSorted((a, b) => b.fetchedAt - a.fetchedAt)) {
    const stale = Date.now() - cache.fetchedAt > settings.cacheDays * day || cache.bytes > 2 * settings.transferBytes
    if (stale || kept + cache.bytes > settings.cacheBytes) await rm(cache.folder, { recursive: true, force: true })
    else kept += cache.bytes
  }
}
