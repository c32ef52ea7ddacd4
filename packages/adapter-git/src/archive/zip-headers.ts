import { promisify } from "node:util"
import { type Entry, getFileNameLowLevel, type LocalFileHeader, parseExtraFields, type ZipFile } from "yauzl"
import { damaged } from "../refusal.ts"
import type { ZipOnDisk } from "./zip-file.ts"

/** The flags that affect how names and content are read: encryption, sizes after the content, UTF-8. */
const flagsThatCount = 0x0001 | 0x0008 | 0x0800
const sizesBehind = 0x0008
const inZip64 = 0xffff_ffff
const descriptorMark = 0x0807_4b50
const localHeaderBytes = 30
const mostDescriptorBytes = 24

/** The name of an entry, or of its local copy. Strict: a backslash is kept, and then refused. */
export const nameOf = (flags: number, raw: Buffer, extra: Parameters<typeof getFileNameLowLevel>[2]): string =>
  getFileNameLowLevel(flags, raw, extra, true)

/** The least space that an entry takes in the file, including the header and name before its content. */
interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Checks the central directory before anything that it names is read. Entries may not overlap in the file: otherwise the same compressed
 * bytes could be unpacked again and again. Calls `meet` with each name. Throws a `Refusal`.
 */
export const checkDirectory = async (zip: ZipFile, meet: (name: string) => void): Promise<void> => {
  const spans: Span[] = []
  for await (const entry of zip.eachEntry()) {
    meet(nameOf(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields))
    const start = entry.relativeOffsetOfLocalHeader
    spans.push({ start, end: start + localHeaderBytes + entry.fileNameLength + entry.compressedSize })
  }
  let last = 0
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (start < last) throw damaged("its entries overlap")
    last = end
  }
}

const extraOf = (header: LocalFileHeader) => {
  try {
    return parseExtraFields(header.extraField)
  } catch {
    throw damaged("an extra field of a local header is truncated")
  }
}

/** Sizes and checksum after the content, in one of the four formats that packers write. */
const descriptorFits = (found: Buffer, { crc32, compressedSize, uncompressedSize }: Entry): boolean => {
  const at = found.length >= 4 && found.readUInt32LE(0) === descriptorMark ? [4, 0] : [0]
  return at.some((start) => {
    const [small, large] = [found.subarray(start, start + 12), found.subarray(start, start + 20)]
    if (small.length < 12 || small.readUInt32LE(0) !== crc32) return false
    if (small.readUInt32LE(4) === compressedSize && small.readUInt32LE(8) === uncompressedSize) return true
    return (
      large.length === 20 &&
      large.readBigUInt64LE(4) === BigInt(compressedSize) &&
      large.readBigUInt64LE(12) === BigInt(uncompressedSize)
    )
  })
}

/**
 * Where the content of an entry begins. The headers before and after it must agree with the central directory: otherwise readers that use
 * one would see a different archive than readers that use the other. Throws a `Refusal`.
 */
export const contentStart = async (zip: ZipFile, entry: Entry, name: string, bytes: ZipOnDisk["bytes"]): Promise<number> => {
  const local = await promisify<Entry, LocalFileHeader>((one, done) =>
    zip.readLocalFileHeader(one, (error, header) => done(error, header)),
  )(entry)
  const flags = local.generalPurposeBitFlag
  if (!local.fileName.equals(entry.fileNameRaw) || nameOf(flags, local.fileName, extraOf(local)) !== name)
    throw damaged("its directory and its local header have different names", name)
  if (((flags ^ entry.generalPurposeBitFlag) & flagsThatCount) !== 0 || local.compressionMethod !== entry.compressionMethod)
    throw damaged("its directory and its local header differ in the compression", name)
  const behind = (flags & sizesBehind) !== 0
  const sizes = [
    [local.compressedSize, entry.compressedSize],
    [local.uncompressedSize, entry.uncompressedSize],
    [local.crc32, entry.crc32],
  ] as const
  if (sizes.some(([told, size]) => told !== size && told !== inZip64 && !(behind && told === 0)))
    throw damaged("its directory and its local header differ in size or checksum", name)
  const end = local.fileDataStart + entry.compressedSize
  if (behind && !descriptorFits(bytes(end, mostDescriptorBytes), entry))
    throw damaged("its directory and its data descriptor differ in size or checksum", name)
  return local.fileDataStart
}
