import { byPath, tarEnd, tarHeader, tarPadding, treeIntake, type TreeLimits } from "@rangewright/domain"
import { type ArchiveFile, type SnapshotId, treeFault } from "@rangewright/ports"
import { pipeline, Readable } from "node:stream"
import { createGzip } from "node:zlib"
import type { Doing } from "../faults.ts"

async function* tarOf(
  files: readonly ArchiveFile[],
  read: (id: SnapshotId, path: string) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (const { path, executable, content } of files) {
    const bytes = content instanceof Uint8Array ? content : await read(content.snapshot, content.path)
    yield* tarHeader(path, bytes.length, executable ?? false)
    yield bytes
    yield tarPadding(bytes.length)
  }
  yield tarEnd
}

/** The chunks of a gzipped tar, deterministic for the same files. Throws the fault of a path that no fetch would accept. */
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
  // a failing source, or a reader that stops, ends both; the reader sees the failure
  return pipeline(Readable.from(tarOf(sorted, read), { objectMode: false }), createGzip(), () => {})
}
