import { byPath, treeIntake, type TreeLimits } from "@rangewright/domain"
import type { ArchiveFile, SnapshotId } from "@rangewright/ports"
import { Readable } from "node:stream"
import { createGzip } from "node:zlib"
import { Header, Pax } from "tar"
import { type Doing, treeFault } from "../faults.ts"

const block = 512

/** Everything that says when and where is the same for every archive. */
const header = (path: string, size: number, executable: boolean): Buffer => {
  const fields = { path, size, mode: executable ? 0o755 : 0o644, mtime: new Date(0), uid: 0, gid: 0, uname: "", gname: "" }
  const plain = new Header({ ...fields, type: "File" })
  const bytes = Buffer.alloc(block)
  const needsPax = plain.encode(bytes)
  // a path that does not fit comes before, in a record of its own
  return needsPax ? Buffer.concat([new Pax({ path, size }).encode(), bytes]) : bytes
}

async function* tarOf(
  files: readonly ArchiveFile[],
  read: (id: SnapshotId, path: string) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (const { path, executable, content } of files) {
    const bytes = content instanceof Uint8Array ? content : await read(content.snapshot, content.path)
    yield header(path, bytes.length, executable ?? false)
    yield bytes
    yield Buffer.alloc((block - (bytes.length % block)) % block)
  }
  yield Buffer.alloc(2 * block)
}

/** The chunks of a gzipped tar, always the same for the same files. Throws the fault of a path that no fetch would take. */
export const packTar = (
  doing: Doing,
  files: readonly ArchiveFile[],
  limits: TreeLimits,
  read: (id: SnapshotId, path: string) => Promise<Uint8Array>,
): AsyncIterable<Uint8Array> => {
  const intake = treeIntake(limits)
  const sorted = files.toSorted(byPath)
  for (const { path, content, executable = false } of sorted) {
    const size = content instanceof Uint8Array ? content.length : 0
    const problem = intake.admit({ kind: "file", path, size, executable })
    if (problem !== undefined) throw treeFault(doing, problem)
  }
  const gzip = createGzip()
  const source = Readable.from(tarOf(sorted, read), { objectMode: false })
  source.on("error", (cause) => gzip.destroy(cause))
  return source.pipe(gzip)
}
