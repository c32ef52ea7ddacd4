import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"

/** The last accepted index of a registry, with the envelope that proves it. */
export interface KeptIndex {
  readonly envelope: string
  readonly etag: string | undefined
  /** Milliseconds since 1970: when the registry last confirmed this index. */
  readonly checkedAt: number
}

/** One file for each registry, so that another registry's serials do not affect it. */
export const keptIndexFile = (folder: string, registry: string): string =>
  join(folder, `index-${createHash("sha256").update(registry).digest("hex").slice(0, 16)}.json`)

/** The stored index; undefined when there is none or it is damaged: then the registry is treated as new. */
export const readKept = async (file: string): Promise<KeptIndex | undefined> => {
  try {
    const { envelope, etag, checkedAt } = JSON.parse(await readFile(file, "utf8")) as Partial<Record<keyof KeptIndex, unknown>>
    if (typeof envelope !== "string" || typeof checkedAt !== "number") return undefined
    return { envelope, checkedAt, etag: typeof etag === "string" ? etag : undefined }
  } catch {
    return undefined
  }
}

export const writeKept = (kept: KeptIndex): string => JSON.stringify(kept)
