import { open, type FileHandle } from "node:fs/promises"

/** Content of a disc image: its label, and the small files of its root folder as text. */
export interface Disc {
  readonly label: string
  readonly files: Readonly<Record<string, string>>
}

const SECTOR = 2048
const firstDescriptor = 16
/** Answer files of installers are small; of larger files only the names are kept. */
const maxText = 256 * 1024
const maxFolder = 1024 * 1024
const maxFiles = 200

const sector = async (file: FileHandle, at: number, length = SECTOR): Promise<Buffer> => {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, at * SECTOR)
  return buffer.subarray(0, bytesRead)
}

/** Names under the second kind of descriptor (Joliet) are complete, in big-endian 16-bit characters; the first kind shortens them. */
const decode = (bytes: Buffer, wide: boolean): string =>
  wide
    ? Buffer.from(bytes.subarray(0, bytes.length & ~1))
        .swap16()
        .toString("utf16le")
    : bytes.toString("latin1")

interface Volume {
  readonly label: string
  readonly wide: boolean
  readonly at: number
  readonly length: number
}

const volumes = async (file: FileHandle): Promise<readonly Volume[]> => {
  const found: Volume[] = []
  for (let at = firstDescriptor; at < firstDescriptor + 16; at += 1) {
    const block = await sector(file, at)
    if (block.length < SECTOR || block.toString("latin1", 1, 6) !== "CD001" || block[0] === 255) break
    const wide = block[0] === 2 && /^%\/[@CE]/u.test(block.toString("latin1", 88, 91))
    if (block[0] !== 1 && !wide) continue
    const label = decode(block.subarray(40, 72), wide).replaceAll("\0", " ").trimEnd()
    found.push({ label, wide, at: block.readUInt32LE(158), length: block.readUInt32LE(166) })
  }
  return found
}

const filesIn = async (file: FileHandle, { wide, at, length }: Volume): Promise<Record<string, string>> => {
  const folder = await sector(file, at, Math.min(length, maxFolder))
  const files: Record<string, string> = Object.create(null)
  for (let here = 0; here + 33 < folder.length && Object.keys(files).length < maxFiles;) {
    const size = folder[here]!
    if (size === 0) {
      // records do not cross sectors
      here = (Math.floor(here / SECTOR) + 1) * SECTOR
      continue
    }
    const record = folder.subarray(here, here + size)
    here += size
    if (record.length < 34 || (record[25]! & 2) !== 0) continue
    const name = decode(record.subarray(33, 33 + record[32]!), wide).replace(/\.?;\d+$/u, "")
    const bytes = record.readUInt32LE(10)
    files[name] = bytes > maxText ? "" : (await sector(file, record.readUInt32LE(2), bytes)).toString("utf8")
  }
  return files
}

/** Reads the content of an image; undefined if the file is not ISO 9660. */
export const readDisc = async (path: string): Promise<Disc | undefined> => {
  const file = await open(path)
  try {
    const all = await volumes(file)
    const volume = all.find(({ wide }) => wide) ?? all[0]
    return volume === undefined ? undefined : { label: volume.label, files: { ...(await filesIn(file, volume)) } }
  } finally {
    await file.close()
  }
}
