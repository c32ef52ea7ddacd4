import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { StoredImage } from "./image-storage.ts"

/** An image that this service put on the storage, with the checksums it computed. */
export interface Receipt {
  readonly sha256: string
  readonly sha512: string
  readonly bytes: number
  /** Modification times of the file reported after uploads; one for each node. */
  readonly changedAt: readonly number[]
}

/** Modification times remembered for one image: of nodes, and of repeated uploads. */
const mostChanges = 32

const isReceipt = (value: unknown): value is Receipt => {
  if (typeof value !== "object" || value === null) return false
  const { sha256, sha512, bytes, changedAt } = value as Readonly<Record<string, unknown>>
  const isSum = (sum: unknown, length: number) => typeof sum === "string" && sum.length === length && /^[0-9a-f]+$/u.test(sum)
  const areTimes = Array.isArray(changedAt) && changedAt.every((at) => typeof at === "number")
  return isSum(sha256, 64) && isSum(sha512, 128) && typeof bytes === "number" && areTimes
}

const read = async (path: string): Promise<readonly Receipt[]> => {
  const value: unknown = await readFile(path, "utf8")
    .then(JSON.parse)
    .catch(() => undefined)
  return isReceipt(value) ? [value] : []
}

/** Known images, stored in a folder. Losing an entry costs an upload. */
export const openReceipts = async (folder: string) => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = (await readdir(folder)).filter((name) => name.endsWith(".json"))
  const known = new Map<string, Receipt>()
  for (const receipt of (await Promise.all(files.map((file) => read(join(folder, file))))).flat())
    known.set(receipt.sha256, receipt)
  return {
    /** The image with this checksum of either kind. */
    find: (sum: string): Receipt | undefined => known.get(sum) ?? [...known.values()].find(({ sha512 }) => sha512 === sum),
    add: async (image: Omit<Receipt, "changedAt">, changedAt: number): Promise<void> => {
      const before = known.get(image.sha256)?.changedAt ?? []
      const receipt = { ...image, changedAt: [changedAt, ...before.filter((at) => at !== changedAt)].slice(0, mostChanges) }
      known.set(image.sha256, receipt)
      const path = join(folder, `${image.sha256}.json`)
      await writeFile(`${path}.new`, JSON.stringify(receipt), { mode: 0o600 })
      await rename(`${path}.new`, path)
    },
  }
}

/** Whether the stored file is still the one that was put there: its name alone proves nothing. */
export const isUnchanged = ({ bytes, changedAt }: Receipt, stored: StoredImage | undefined): boolean =>
  stored?.changedAt !== undefined && stored.bytes === bytes && changedAt.includes(stored.changedAt)
