import { readdir, stat } from "node:fs/promises"
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

/** Undefined when it changes while being read, because a fetch uses it. */
const cacheAt = async (folder: string): Promise<Cache | undefined> => {
  try {
    return { folder, fetchedAt: (await stat(folder)).mtimeMs, bytes: await bytesIn(folder) }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw cause
  }
}

/**
 * The caches that were not fetched for long, those that many fetches have made large, and the longest unused of those that are too large
 * together. The next fetch recreates them.
 */
export const staleRepositories = async (
  folder: string,
  settings: Pick<Settings, "cacheDays" | "cacheBytes" | "transferBytes">,
): Promise<readonly string[]> => {
  const found = await Promise.all((await readdir(folder)).map((name) => cacheAt(join(folder, name))))
  const caches = found.filter((cache) => cache !== undefined)
  const stale: string[] = []
  let kept = 0
  for (const cache of caches.toSorted((a, b) => b.fetchedAt - a.fetchedAt)) {
    const old = Date.now() - cache.fetchedAt > settings.cacheDays * day || cache.bytes > 2 * settings.transferBytes
    if (old || kept + cache.bytes > settings.cacheBytes) stale.push(cache.folder)
    else kept += cache.bytes
  }
  return stale
}
