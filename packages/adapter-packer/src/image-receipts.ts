import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { StoredImage } from "./image-storage.ts"

/** An image that this service has put on the storage, with the sums that it counted itself. */
export interface Receipt {
  readonly sha256: string
  readonly sha512: string
  readonly bytes: number
  /** When the storage says that the file was last changed, after the upload; one of each node's. */
  readonly changedAt: readonly number[]
}

/** Changes that are remembered of one image: nodes, and uploads anew. */
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

/** What is known of images, in a folder. One that is lost or damaged costs an upload. */
export const openReceipts = async (folder: string) => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = (await readdir(folder)).filter((name) => name.endsWith(".json"))
  const known = new Map<string, Receipt>()
  for (const receipt of (await Promise.all(files.map((file) => read(join(folder, file))))).flat())
    known.set(receipt.sha256, receipt)
  return {
    /** The image with a sum of either kind. */
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

/** Whether what the storage shows is still the file that was put there: its name alone says nothing. */
export const isUnchanged = ({ bytes, changedAt }: Receipt, stored: StoredImage | undefined): boolean =>
  stored?.changedAt !== undefined && stored.bytes === bytes && changedAt.includes(stored.changedAt)
