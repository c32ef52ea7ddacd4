import { type Zippable, zipSync } from "fflate"
import { gzipSync } from "node:zlib"

/** One entry of a tar, down to fields that no packer would write. */
export interface TarEntry {
  readonly name: string
  readonly content?: string | Uint8Array
  /** `0` file, `1` hard link, `2` link, `3` device, `5` folder, `6` pipe. */
  readonly type?: string
  readonly link?: string
  readonly mode?: number
  /** A size that differs from the content's. */
  readonly size?: number
}

const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, "0")

const wholeBlocks = (length: number): number => Math.ceil(length / 512) * 512

/** Writes a header into zeros. */
const writeHeader = (header: Buffer, entry: TarEntry, length: number): void => {
  header.write(entry.name, 0, 100)
  header.write(octal(entry.mode ?? 0o644, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(entry.size ?? length, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(" ".repeat(8), 148)
  header.write(entry.type ?? "0", 156)
  header.write(entry.link ?? "", 157, 100)
  header.write("ustar\u000000", 257)
  let sum = 0
  for (const byte of header) sum += byte
  header.write(octal(sum, 7), 148)
  header[155] = 0x20
}

/** Writes a tar by hand, without the library that reads it. */
export const tar = (entries: readonly TarEntry[]): Buffer => {
  const contents = entries.map(({ content = "" }) => (typeof content === "string" ? Buffer.from(content) : content))
  const archive = Buffer.alloc(contents.reduce((sum, { length }) => sum + 512 + wholeBlocks(length), 1024))
  let at = 0
  entries.forEach((entry, n) => {
    const content = contents[n]!
    writeHeader(archive.subarray(at, at + 512), entry, content.length)
    archive.set(content, at + 512)
    at += 512 + wholeBlocks(content.length)
  })
  return archive
}
export const tarGz = (entries: readonly TarEntry[]): Buffer => gzipSync(tar(entries))

export interface ZipEntry {
  readonly content: string
  /** The whole Unix mode, with the file type. */
  readonly mode?: number
}

export const zip = (entries: Readonly<Record<string, ZipEntry>>): Buffer => {
  const files: Zippable = {}
  for (const [name, { content, mode = 0o100644 }] of Object.entries(entries))
    files[name] = [Buffer.from(content), { os: 3, attrs: mode * 65536 }]
  return Buffer.from(zipSync(files))
}
