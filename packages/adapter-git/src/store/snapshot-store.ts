import { isSnapshotId, resolveLinks, treeBytes, type TreeEntry } from "@rangewright/domain"
import { ContentFault, type Snapshot, type SnapshotId } from "@rangewright/ports"
import { open, readdir, readFile, rename } from "node:fs/promises"
import { constants } from "node:fs"
import { join } from "node:path"
import type { Folders } from "./folders.ts"
import { readListing } from "./listing.ts"
import { pinsIn } from "./pins.ts"
import { listingFile, sizeFile, treeIn } from "./tree-account.ts"

/** Listings cached in memory. */
const keptListings = 8
const defaultMaxBytes = 1024 * 1024

/**
 * Snapshots on disk. A snapshot appears complete, by one rename, and never changes; its pin is created before it, so that it can never be
 * pruned in between. Changing operations must not overlap: the caller serializes them.
 */
export const snapshotStore = (folders: Folders) => {
  const pins = pinsIn(folders.pins)
  const listings = new Map<SnapshotId, ReadonlyMap<string, TreeEntry>>()
  /** Sizes that were requested before. A snapshot never changes. */
  const sizes = new Map<SnapshotId, number>()
  const missing = (doing: string) =>
    new ContentFault({ doing, reason: "not-found", rule: "snapshot", detail: "there is no such snapshot" })

  const damaged = (doing: string) =>
    new ContentFault({
      doing,
      reason: "broken",
      rule: "snapshot",
      detail: "the list of its files is damaged",
      hint: "Fetch it again.",
    })
  const unlessUnusable = (cause: unknown): undefined => {
    if (cause instanceof ContentFault && cause.facts.rule === "snapshot") return undefined
    throw cause
  }

  const listing = async (doing: string, id: SnapshotId): Promise<ReadonlyMap<string, TreeEntry>> => {
    if (!isSnapshotId(id)) throw missing(doing)
    const known = listings.get(id)
    if (known !== undefined) return known
    const entries = await readListing(join(folders.snapshots, id, listingFile)).catch((cause: NodeJS.ErrnoException) => {
      throw cause.code === "ENOENT" ? missing(doing) : cause
    })
    if (entries === undefined) throw damaged(doing)
    return remember(id, entries)
  }
  const remember = (id: SnapshotId, entries: readonly TreeEntry[]): ReadonlyMap<string, TreeEntry> => {
    const tree = new Map(entries.map((entry) => [entry.path, entry]))
    listings.set(id, tree)
    for (const oldest of listings.keys()) if (listings.size > keptListings) listings.delete(oldest)
    return tree
  }
  /** The recorded size; for a snapshot of an older version it is computed from its listing. */
  const sizeOf = async (doing: string, id: SnapshotId): Promise<number> => {
    const recorded = Number(await readFile(join(folders.snapshots, id, sizeFile), "utf8").catch(() => ""))
    return recorded > 0 ? recorded : treeBytes((await listing(doing, id)).values())
  }
  const snapshotOf = async (doing: string, id: SnapshotId): Promise<Snapshot> => ({
    id,
    files: [...(await listing(doing, id)).values()],
    root: treeIn(join(folders.snapshots, id)),
  })
  const pin = async (doing: string, id: SnapshotId, holder: string): Promise<Snapshot> => {
    const snapshot = await snapshotOf(doing, id)
    await pins.add(id, holder)
    return snapshot
  }

  return {
    open: snapshotOf,
    pin,
    /** Pins and returns the snapshot if it already exists and is not damaged. */
    adopt: (doing: string, id: string, holder: string): Promise<Snapshot | undefined> =>
      isSnapshotId(id) ? pin(doing, id, holder).catch(unlessUnusable) : Promise.resolve(undefined),
    /** Turns a staged folder with a finished tree into a snapshot. If it already exists, and is not damaged, the existing one is returned. */
    publish: async (
      doing: string,
      id: string,
      staged: string,
      entries: readonly TreeEntry[],
      holder: string,
    ): Promise<Snapshot> => {
      if (!isSnapshotId(id)) throw missing(doing)
      await pins.add(id, holder)
      const target = join(folders.snapshots, id)
      await rename(staged, target).catch(async (cause: NodeJS.ErrnoException) => {
        if (cause.code !== "ENOTEMPTY" && cause.code !== "EEXIST") throw cause
        if ((await listing(doing, id).catch(unlessUnusable)) !== undefined) return
        // removed with the scratch folder
        await rename(target, `${staged}-damaged`)
        await rename(staged, target)
      })
      remember(id, entries)
      return snapshotOf(doing, id)
    },
    release: async (id: SnapshotId, holder: string): Promise<void> => (isSnapshotId(id) ? pins.remove(id, holder) : undefined),
    /** Disk space that it takes. */
    size: async (doing: string, id: SnapshotId): Promise<number> => {
      if (!isSnapshotId(id)) throw missing(doing)
      const size = sizes.get(id) ?? (await sizeOf(doing, id))
      sizes.set(id, size)
      return size
    },
    /** Pins without a snapshot, because the service was killed between creating the two, do not count. */
    pinned: async (holder: string): Promise<readonly SnapshotId[]> => {
      const there = new Set(await readdir(folders.snapshots))
      return (await pins.heldBy(holder)).filter(isSnapshotId).filter((id) => there.has(id))
    },
    /** Moves each unpinned snapshot away at once, to be deleted with the scratch folder: nobody sees half a snapshot. */
    prune: async (scratch: string): Promise<readonly SnapshotId[]> => {
      const removed: SnapshotId[] = []
      for (const id of (await readdir(folders.snapshots)).filter(isSnapshotId)) {
        if (await pins.held(id)) continue
        await rename(join(folders.snapshots, id), join(scratch, id))
        listings.delete(id)
        sizes.delete(id)
        await pins.forget(id)
        removed.push(id)
      }
      return removed
    },
    read: async (doing: string, id: SnapshotId, path: string, maxBytes = defaultMaxBytes): Promise<Uint8Array> => {
      const tree = await listing(doing, id)
      const at = resolveLinks(path, tree)
      const entry = at === undefined ? undefined : tree.get(at)
      if (entry?.kind !== "file")
        throw new ContentFault({ doing, reason: "not-found", rule: "path", detail: "there is no such file" })
      if (entry.size > maxBytes)
        throw new ContentFault({
          doing,
          reason: "too-large",
          rule: "file-too-large",
          detail: `it is larger than ${maxBytes} bytes`,
        })
      const file = await open(join(treeIn(join(folders.snapshots, id)), entry.path), constants.O_RDONLY | constants.O_NOFOLLOW)
      try {
        return await file.readFile()
      } finally {
        await file.close()
      }
    },
  }
}
export type SnapshotStore = ReturnType<typeof snapshotStore>
