import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { asFault, fault } from "../faults.ts"
import type { Found, Registry, Wanted } from "./registry.ts"

/** Reads a regular file without following a link at its path; pipes and devices are refused. */
const readFile = async (
  folder: string,
  { doing, path, most, etag }: Wanted,
  signal: AbortSignal,
): Promise<Found | "unchanged"> => {
  const file = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT" || cause.code === "ENOTDIR")
        throw fault(doing, "not-found", `there is no ${path}`, "Pack the registry with: subscription pack")
      throw cause
    },
  )
  try {
    const stat = await file.stat({ bigint: true })
    if (!stat.isFile()) throw fault(doing, "broken", `${path} is not a file`)
    if (stat.size > BigInt(most)) throw fault(doing, "too-large", `${path} is larger than ${most} bytes`)
    const found = `${stat.ino}-${stat.size}-${stat.mtimeNs}`
    if (found === etag) return "unchanged"
    const bytes = Buffer.alloc(Number(stat.size))
    let length = 0
    while (length < bytes.length) {
      signal.throwIfAborted()
      const { bytesRead } = await file.read(bytes, length, Math.min(bytes.length - length, 1024 * 1024))
      if (bytesRead === 0) throw fault(doing, "broken", `${path} was truncated while it was read`)
      length += bytesRead
    }
    return { bytes, etag: found }
  } finally {
    await file.close()
  }
}

/** A registry in a folder of this host, as created by `subscription pack`: for sites without internet access. */
export const folderRegistry = (folder: string): Registry => ({
  name: "the configured folder",
  place: folder,
  read: (wanted, signal) =>
    readFile(folder, wanted, signal).catch((cause: unknown) => {
      throw asFault(wanted.doing)(cause)
    }),
})
