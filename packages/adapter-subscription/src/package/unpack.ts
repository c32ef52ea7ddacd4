import type { TreeEntry, TreeLimits } from "@rangewright/domain"
import {
  type ArtifactEntry,
  type ContentFault,
  ContentFetcher,
  type SubscriptionFault,
  type SubscriptionReason,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { asFault, type Doing, fault } from "../faults.ts"

/** Writes the package to a file, from which archives are read; removed when the scope ends. */
const packageFile = (doing: Doing, packed: Uint8Array) =>
  Effect.gen(function* () {
    const promised = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: asFault(doing) })
    const folder = yield* Effect.acquireRelease(
      promised(() => mkdtemp(join(tmpdir(), "rangewright-package-"))),
      (made) => Effect.ignore(Effect.tryPromise(() => rm(made, { recursive: true, force: true }))),
    )
    const file = join(folder, "package.tar.gz")
    yield* promised(() => writeFile(file, packed, { mode: 0o600 }))
    return file
  })

const reasons: Partial<Record<ContentFault["facts"]["reason"], SubscriptionReason>> = {
  refused: "broken",
  broken: "broken",
  "too-large": "too-large",
  timeout: "timeout",
}

/** Converts a refused archive into the fault of a package. */
const packageFault =
  (doing: Doing) =>
  ({ facts: { reason, detail, item } }: ContentFault): SubscriptionFault =>
    fault(doing, reasons[reason] ?? "unavailable", item === undefined ? detail : `"${item}": ${detail}`)

/** Packages have tighter limits than sources, since their files are held in memory. */
const sizeProblem = (files: readonly TreeEntry[], limits: TreeLimits): string | undefined => {
  const sizes = files.map((entry) => (entry.kind === "file" ? entry.size : 0))
  if (files.length > limits.files) return `there are more than ${limits.files} files`
  if (sizes.some((size) => size > limits.fileBytes)) return `a file is larger than ${limits.fileBytes} bytes`
  return sizes.reduce((sum, size) => sum + size, 0) > limits.totalBytes
    ? `the files are larger than ${limits.totalBytes} bytes together`
    : undefined
}

/** The files of a package, held in memory; its root is the role's. Read like every archive. */
export const unpack = (
  doing: Doing,
  packed: Uint8Array,
  limits: TreeLimits,
): Effect.Effect<readonly ArtifactEntry[], SubscriptionFault, ContentFetcher> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { fetch, pinned, read, release } = yield* ContentFetcher
      const file = yield* packageFile(doing, packed)
      const holder = `subscription:${randomUUID()}`
      yield* Effect.addFinalizer(() =>
        Effect.ignore(Effect.flatMap(pinned(holder), (ids) => Effect.forEach(ids, (id) => release(id, holder)))),
      )
      const toFault = <A>(work: Effect.Effect<A, ContentFault>) => Effect.mapError(work, packageFault(doing))
      const { id, files } = yield* toFault(fetch({ location: { type: "archive", file, name: "package.tar.gz" }, holder }))
      if (files.length === 0) return yield* fault(doing, "broken", "it contains no file")
      const problem = sizeProblem(files, limits)
      if (problem !== undefined) return yield* fault(doing, "too-large", problem)
      return yield* Effect.forEach(files, (entry): Effect.Effect<ArtifactEntry, SubscriptionFault> =>
        entry.kind === "link"
          ? Effect.succeed(entry)
          : Effect.map(toFault(read(id, entry.path, entry.size)), (bytes) => ({ ...entry, read: Effect.succeed(bytes) })),
      )
    }),
  )
