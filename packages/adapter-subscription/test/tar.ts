import { Header } from "tar"
import { gzipSync } from "node:zlib"

/** One entry of a tar, also one that no packer would write. */
export interface TarEntry {
  readonly name: string
  readonly content?: string | Uint8Array
  /** Default: a file. */
  readonly type?: "File" | "Link" | "SymbolicLink" | "CharacterDevice" | "FIFO" | "Directory"
  readonly link?: string
  readonly mode?: number
  /** A size that is not the content's. */
  readonly size?: number
}

const block = 512

const entryOf = ({ name, content = "", type = "File", link, mode = 0o644, size }: TarEntry): Buffer => {
  const bytes = Buffer.from(content)
  const header = Buffer.alloc(block)
  const linkpath = link === undefined ? {} : { linkpath: link }
  new Header({ path: name, type, mode, size: size ?? bytes.length, ...linkpath }).encode(header, 0)
  return Buffer.concat([header, bytes, Buffer.alloc((block - (bytes.length % block)) % block)])
}

export const tar = (entries: readonly TarEntry[]): Buffer => Buffer.concat([...entries.map(entryOf), Buffer.alloc(2 * block)])
export const tarGz = (entries: readonly TarEntry[]): Buffer => gzipSync(tar(entries))
