import { withoutTrailing } from "@rangewright/domain/tree"
import { Header } from "tar/header"
import { damaged, type Refusal, tooLarge } from "../refusal.ts"
import { checkGlobalPax, describe, type Described, readPax, wholePath } from "./pax.ts"
import type { FileSink } from "./unpacked-tree.ts"

const blockBytes = 512
/** Limit for the metadata of one entry. */
const mostMetaBytes = 64 * 1024
/** Packers fill up their last record, which is 10 KiB and rarely more. */
const mostPadding = 1024 * 1024
const zeros = Buffer.alloc(64 * 1024)

export interface TarEntry {
  /** The format's type flag: `0` a file, `1` a hard link, `2` a symbolic link, `5` a folder. */
  readonly type: string
  readonly path: string
  readonly linkTarget: string
  /** Size of the content that follows. */
  readonly size: number
  readonly mode: number
}

const isZero = (bytes: Buffer): boolean => {
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const part = bytes.subarray(at, at + zeros.length)
    if (!part.equals(zeros.subarray(0, part.length))) return false
  }
  return true
}

/** Octal digits, which every packer uses for sizes within our limits; never the binary form, which may be negative. */
const sizeOf = (block: Buffer): number => {
  const field = /^(?: *(?<digits>[0-7]+))?[ \0]*$/u.exec(block.toString("latin1", 124, 136))
  if (field === null) throw damaged("the size of an entry is not an octal number")
  return Number.parseInt(field.groups?.["digits"] ?? "0", 8)
}

const compressed = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])]

/** The refusal for a file that starts like this; nested archives are not opened. */
const noTar = (start: Buffer): Refusal =>
  damaged(
    compressed.some((mark) => start.indexOf(mark) === 0)
      ? "it contains something compressed instead of a tar"
      : "it is not a tar, or is empty",
  )

/** The parser throws plain errors for invalid numbers in the binary form. */
const headerOf = (block: Buffer): Header => {
  try {
    return new Header(block)
  } catch {
    throw damaged("it is damaged or truncated (a header has an invalid number)")
  }
}

const isFile = (type: string): boolean => type === "0" || type === "7"

/**
 * Walks a tar that arrives in chunks of any length, and passes each entry to `take`, which returns the sink for its content, or undefined
 * to skip it. Strict wherever programs interpret tars differently: sizes, extended headers, and the end, after which only padding may
 * follow. The cost of each step is proportional to its input, and at most one header is held. Throws a `Refusal`.
 */
export const tarWalk = (take: (entry: TarEntry) => FileSink | undefined) => {
  const block = Buffer.alloc(blockBytes)
  let [held, left, skip, padding, entries] = [0, 0, 0, 0, 0]
  let sink: FileSink | undefined
  let described: Described = {}
  let ended = false

  /** Collects the content of an extended header. */
  const meta = (size: number, use: (body: Buffer) => void): FileSink => {
    if (size > mostMetaBytes) throw damaged(`the metadata of an entry is longer than ${mostMetaBytes} bytes`)
    const body = Buffer.alloc(size)
    let at = 0
    return { put: (chunk) => void (body.set(chunk, at), (at += chunk.length)), end: () => use(body) }
  }
  /** A name too long for a header, without its terminating NUL. */
  const longName = (body: Buffer): string => {
    return wholePath(withoutTrailing(body.toString("utf8"), "\0"))
  }

  const entryOf = (header: Header, size: number): TarEntry => {
    const { path = header.path ?? "", linkTarget = header.linkpath ?? "" } = described
    const type = header.typeKey === "" ? "0" : header.typeKey
    const isFolder = type === "5" || (type === "0" && path.endsWith("/"))
    const bytes = described.size ?? size
    described = {}
    entries += 1
    // some packers store a folder's size on their disk; no content follows
    if (type === "5") return { type, path, linkTarget, size: 0, mode: header.mode ?? 0 }
    if ((isFolder || !isFile(type)) && bytes > 0) throw damaged("an entry that is not a file has content", path)
    return { type: isFolder ? "5" : type, path, linkTarget, size: bytes, mode: header.mode ?? 0 }
  }

  const descriptions: Readonly<Record<string, (body: Buffer) => void>> = {
    x: (body) => describe(described, readPax(body)),
    g: checkGlobalPax,
    L: (body) => describe(described, { path: longName(body) }),
    K: (body) => describe(described, { linkTarget: longName(body) }),
  }
  /** What follows the header block: the size of the content, and its sink. */
  const begin = (header: Header, size: number): readonly [number, FileSink | undefined] => {
    const read = descriptions[header.typeKey]
    if (read !== undefined) return [size, meta(size, read)]
    const entry = entryOf(header, size)
    return [entry.size, take(entry)]
  }

  const onBlock = (): void => {
    if (isZero(block)) {
      ended = true
      return
    }
    const header = headerOf(block)
    if (!header.cksumValid)
      throw entries === 0 ? noTar(block) : damaged("it is damaged or truncated (a header has a wrong checksum)")
    ;[left, sink] = begin(header, sizeOf(block))
    skip = (blockBytes - (left % blockBytes)) % blockBytes
    if (left === 0) sink?.end()
  }

  const onEnd = (rest: Buffer): void => {
    padding += rest.length
    if (!isZero(rest)) throw damaged("there is data after its end")
    if (padding > mostPadding) throw tooLarge("padding", `more than ${mostPadding} zero bytes follow its end`)
  }

  return {
    write: (chunk: Buffer): void => {
      for (let at = 0; at < chunk.length;) {
        if (ended) return onEnd(chunk.subarray(at))
        if (left > 0) {
          const part = chunk.subarray(at, at + left)
          sink?.put(part)
          left -= part.length
          at += part.length
          if (left === 0) sink?.end()
        } else if (skip > 0) {
          const skipped = Math.min(skip, chunk.length - at)
          skip -= skipped
          at += skipped
        } else {
          const copied = chunk.copy(block, held, at, at + blockBytes - held)
          held = (held + copied) % blockBytes
          at += copied
          if (held === 0) onBlock()
        }
      }
    },
    end: (): void => {
      if (entries === 0) throw noTar(block)
      if (left > 0 || skip > 0 || held > 0 || Object.keys(described).length > 0) throw damaged("it is damaged or truncated")
    },
  }
}
