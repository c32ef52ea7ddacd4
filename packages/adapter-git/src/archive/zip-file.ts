import { closeSync, fstatSync, openSync, readSync } from "node:fs"
import { Readable } from "node:stream"
import { fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from "yauzl"

const windowBytes = 64 * 1024

/** Reads a file for the library synchronously, in larger pieces than requested: reading a directory takes many small reads. */
class WindowReader extends RandomAccessReader {
  readonly #fd: number
  #window: Buffer = Buffer.alloc(0)
  #start = 0
  constructor(fd: number) {
    super()
    this.#fd = fd
  }
  /** At most `length` bytes; fewer at the end of the file. */
  bytes(position: number, length: number): Buffer {
    if (position < this.#start || position + length > this.#start + this.#window.length) {
      const wanted = Buffer.allocUnsafe(Math.max(length, windowBytes))
      this.#window = wanted.subarray(0, readSync(this.#fd, wanted, 0, wanted.length, position))
      this.#start = position
    }
    return this.#window.subarray(position - this.#start, position - this.#start + length)
  }
  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ) {
    const found = this.bytes(position, length)
    found.copy(buffer, offset)
    callback(null, found.length)
  }
  override _readStreamForRange(start: number, end: number): Readable {
    const fd = this.#fd
    function* chunks(): Generator<Buffer> {
      for (let at = start; at < end;) {
        const chunk = Buffer.alloc(Math.min(windowBytes, end - at))
        const read = readSync(fd, chunk, 0, chunk.length, at)
        if (read === 0) return
        at += read
        yield chunk.subarray(0, read)
      }
    }
    return Readable.from(chunks(), { objectMode: false })
  }
}

/** A zip on disk. */
export interface ZipOnDisk {
  /** Opens the zip and reads its end; each walk over the directory needs its own. */
  readonly open: () => Promise<ZipFile>
  /** Raw bytes of the file: at most `length`, fewer at its end. */
  readonly bytes: (position: number, length: number) => Buffer
  readonly close: () => void
}

export const zipOnDisk = (path: string): ZipOnDisk => {
  const fd = openSync(path, "r")
  const { size } = fstatSync(fd)
  const reader = new WindowReader(fd)
  return {
    open: () =>
      fromRandomAccessReaderPromise(new WindowReader(fd), size, { autoClose: false, lazyEntries: true, decodeStrings: false }),
    bytes: (position, length) => reader.bytes(position, length),
    close: () => closeSync(fd),
  }
}
