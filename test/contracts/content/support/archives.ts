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

const block = (entry: TarEntry): Buffer => {
  const content = Buffer.from(entry.content ?? "")
  const header = Buffer.alloc(512)
  header.write(entry.name, 0, 100)
  header.write(octal(entry.mode ?? 0o644, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(entry.size ?? content.length, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(" ".repeat(8), 148)
  header.write(entry.type ?? "0", 156)
  header.write(entry.link ?? "", 157, 100)
  header.write("ustar\u000000", 257)
  header.write(
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      7,
    ),
    148,
  )
  header[155] = 0x20
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)])
}

/** Writes a tar by hand, without the library that reads it. */
export const tar = (entries: readonly TarEntry[]): Buffer => Buffer.concat([...entries.map(block), Buffer.alloc(1024)])
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
