import { byPath, defaultTreeLimits, readBuilderFile, tarEnd, tarHeader, tarPadding, treeIntake } from "@rangewright/domain"
import { type ArchiveFile, Archives, BuilderFiles, type ContentFault, ContentFetcher, treeFault } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { memoryContentFetcher } from "./content-fetcher.ts"
import type { MemoryContent } from "./memory-content.ts"

const gzip = async (parts: readonly Uint8Array[]): Promise<Uint8Array> => {
  const plain = new Blob(parts.map((part) => new Uint8Array(part)))
  return new Uint8Array(await new Response(plain.stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer())
}

const pack = (
  fetcher: Context.Service.Shape<typeof ContentFetcher>,
  files: readonly ArchiveFile[],
): Stream.Stream<Uint8Array, ContentFault> =>
  Stream.fromEffect(
    Effect.gen(function* () {
      const intake = treeIntake(defaultTreeLimits)
      const parts: Uint8Array[] = []
      for (const { path, content, executable = false } of files.toSorted(byPath)) {
        const bytes =
          content instanceof Uint8Array
            ? content
            : yield* fetcher.read(content.snapshot, content.path, defaultTreeLimits.fileBytes)
        const problem = intake.admit({ kind: "file", path, size: bytes.length, executable })
        if (problem !== undefined) return yield* treeFault("pack an archive", problem)
        parts.push(...tarHeader(path, bytes.length, executable), bytes, tarPadding(bytes.length))
      }
      return yield* Effect.promise(() => gzip([...parts, tarEnd]))
    }),
  )

/** Content from places in memory, and archives of it. */
export const memoryContentLayer = (content: MemoryContent): Layer.Layer<ContentFetcher | Archives | BuilderFiles> => {
  const fetcher = memoryContentFetcher(content)
  return Layer.succeedContext(
    Context.make(ContentFetcher, fetcher).pipe(
      Context.add(Archives, { pack: (files) => pack(fetcher, files) }),
      Context.add(BuilderFiles, { read: (path, text) => Effect.sync(() => readBuilderFile(path, text)) }),
    ),
  )
}
