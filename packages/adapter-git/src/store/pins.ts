import type { SnapshotId } from "@rangewright/ports"
import { createHash } from "node:crypto"
import { access, mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Which holder needs which snapshot: a folder for each snapshot, a file for each holder. */
export const pinsIn = (folder: string) => {
  const fileOf = (id: string, holder: string) => join(folder, id, createHash("sha256").update(holder).digest("hex").slice(0, 40))
  return {
    add: async (id: SnapshotId, holder: string): Promise<void> => {
      await mkdir(join(folder, id), { recursive: true })
      // an existing one is not rewritten: a backup may be reading it, and only its name counts
      await writeFile(fileOf(id, holder), holder, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error
      })
    },
    remove: (id: SnapshotId, holder: string): Promise<void> => rm(fileOf(id, holder), { force: true }),
    /** Fails when that cannot be told: what nobody is known to need is deleted. */
    held: async (id: string): Promise<boolean> => {
      const holders = await readdir(join(folder, id)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error
        return []
      })
      return holders.length > 0
    },
    heldBy: async (holder: string): Promise<readonly string[]> => {
      const ids = (await readdir(folder)).toSorted()
      const held = await Promise.all(ids.map((id) => exists(fileOf(id, holder))))
      return ids.filter((_, index) => held[index])
    },
    forget: (id: string): Promise<void> => rm(join(folder, id), { recursive: true, force: true }),
  }
}
