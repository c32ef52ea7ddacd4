import type { StoredFile, UploadedFile } from "@rangewright/application"
import { createWriteStream } from "node:fs"
import { join } from "node:path"
import { Writable } from "node:stream"

/** Receives the bytes of a file as they arrive, and returns the file once the writer has finished. */
export type FileSink = (
  filename: string,
  contentType: string,
) => { readonly into: Writable; readonly taken: () => UploadedFile | StoredFile }

/** Holds the file in memory. */
export const memorySink: FileSink = (filename, contentType) => {
  const chunks: Buffer[] = []
  const into = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk)
      done()
    },
  })
  return { into, taken: () => ({ filename, contentType, bytes: Buffer.concat(chunks) }) }
}

/** Writes the file into this folder under a generated name, readable by nobody else; the sender's name is only reported. */
export const diskSink =
  (folder: string): FileSink =>
  (filename, contentType) => {
    const path = join(folder, "file")
    const into = createWriteStream(path, { flags: "wx", mode: 0o600 })
    return { into, taken: () => ({ filename, contentType, size: into.bytesWritten, path }) }
  }
