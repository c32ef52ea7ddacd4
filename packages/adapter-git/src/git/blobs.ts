import { ContentFault } from "@rangewright/ports"
import type * as Effect from "effect/Effect"
import type { Readable } from "node:stream"
import type { Doing } from "../faults.ts"
import type { GitFile } from "./list-tree.ts"
import type { Repository } from "./repository.ts"

/** Reads bytes of a stream by count or up to a newline, without copying large chunks. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)
  constructor(stream: Readable) {
    this.#chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  }
  async #more(): Promise<void> {
    const next = await this.#chunks.next()
    if (next.done === true) throw new Error("git ended in the middle of a file")
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value])
  }
  async line(): Promise<string> {
    while (!this.#rest.includes(10)) await this.#more()
    const end = this.#rest.indexOf(10)
    const text = this.#rest.toString("utf8", 0, end)
    this.#rest = this.#rest.subarray(end + 1)
    return text
  }
  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0) await this.#more()
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }
}

/** Reads the files' blobs with one run of git, in order, and passes each to `take`, which must read it to the end. */
export const readBlobs = (
  doing: Doing,
  repository: Repository,
  files: readonly GitFile[],
  take: (file: GitFile, content: AsyncIterable<Buffer>) => Promise<void>,
): Effect.Effect<void, ContentFault> =>
  repository.run(
    ["cat-file", "--batch", "--buffer"],
    async (output) => {
      const reader = new ByteReader(output)
      for (const file of files) {
        const [object, type, size] = (await reader.line()).split(" ")
        if (object !== file.object || type !== "blob" || Number(size) !== file.size)
          throw new ContentFault({
            doing,
            reason: "broken",
            item: file.path,
            detail: "the repository lacks a file of its tree",
          })
        await take(file, reader.bytes(file.size))
        for await (const newline of reader.bytes(1)) void newline
      }
    },
    { input: files.map(({ object }) => `${object}\n`).join("") },
  )
