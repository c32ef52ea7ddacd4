import { open, type FileHandle } from "node:fs/promises"
import { pipeline } from "node:stream"
import { crc32, createInflateRaw } from "node:zlib"
import { damaged } from "../refusal.ts"

/** Room for the optional name and comment in a header. */
const mostHeaderBytes = 8 * 1024
const chunkBytes = 64 * 1024
const flags = { crc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 }

const readAt = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

/** Where the compressed data begins (RFC 1952). */
const headerBytes = (head: Buffer): number => {
  const cutOff = damaged("it is not gzip data, or is truncated")
  const [first, second, method, flag = 0] = head
  if (head.length < 10 || first !== 0x1f || second !== 0x8b || method !== 8 || (flag & flags.reserved) !== 0) throw cutOff
  let at = 10
  if ((flag & flags.extra) !== 0) {
    if (head.length < at + 2) throw cutOff
    at += 2 + head.readUInt16LE(at)
  }
  for (const text of [flags.name, flags.comment]) {
    if ((flag & text) === 0) continue
    const end = head.indexOf(0, at)
    if (end === -1) throw cutOff
    at = end + 1
  }
  if ((flag & flags.crc) !== 0) at += 2
  if (at >= head.length) throw cutOff
  return at
}

/**
 * The content of a gzip file in chunks: one member, verified against its checksum and length, with nothing after it. Other programs
 * concatenate members and skip what follows, so the meaning of such an archive would depend on its reader. Throws a `Refusal`.
 */
export async function* gunzipped(path: string): AsyncGenerator<Buffer> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const start = headerBytes(await readAt(file, 0, mostHeaderBytes))
    const inflate = createInflateRaw({ chunkSize: chunkBytes })
    const source = file.createReadStream({ start, autoClose: false, highWaterMark: chunkBytes })
    // the failure surfaces where the output is read
    pipeline(source, inflate, () => {})
    let [sum, bytes] = [0, 0]
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      sum = crc32(chunk, sum)
      bytes += chunk.length
      yield chunk
    }
    const end = start + inflate.bytesWritten
    const trailer = await readAt(file, end, 8)
    if (trailer.length < 8) throw damaged("it is damaged or truncated")
    if (trailer.readUInt32LE(0) !== sum || trailer.readUInt32LE(4) !== bytes % 2 ** 32)
      throw damaged("its content does not match its checksum")
    if (size > end + 8) throw damaged(`${size - end - 8} more bytes follow its compressed data`)
  } finally {
    await file.close()
  }
}
