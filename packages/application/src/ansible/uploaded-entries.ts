import { Failed } from "@rangewright/domain"
import { type ArtifactEntry, ContentFetcher, type LibraryScope } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { whileAwaited } from "../operation/caller-gone.ts"
import type { StoredFile } from "../operation/operation.ts"

const releaseAll = ({ pinned, release }: Context.Service.Shape<typeof ContentFetcher>, holder: string) =>
  Effect.ignore(Effect.flatMap(pinned(holder), (ids) => Effect.forEach(ids, (id) => release(id, holder))))

/** An uploaded archive. */
export interface UploadedArchive {
  readonly file: StoredFile
  /** The file names to try; the extension gives the format. */
  readonly names: readonly string[]
  /** A single top-level folder is stripped unless it has one of these names; absent: it stays. */
  readonly keep?: readonly string[]
}

/** The entries of the archive, readable for the scope's lifetime. It is unpacked in a separate thread, with limits. */
export const uploadedEntries = ({ file, names, keep }: UploadedArchive, scope: LibraryScope) =>
  Effect.gen(function* () {
    const fetcher = yield* ContentFetcher
    const holder = `upload:${file.path}`
    const whose = scope.type === "user" ? `user ${scope.userId}` : "everybody"
    const fetched = (name: string) =>
      fetcher.fetch({
        location: { type: "archive", file: file.path, name, ...(keep === undefined ? {} : { unwrap: { keep } }) },
        holder,
        whose,
      })
    const [first = file.filename, ...others] = names
    const whole = others.reduce(
      (tried, name) =>
        Effect.catchIf(
          tried,
          (fault) => fault.facts.reason === "broken",
          () => fetched(name),
        ),
      fetched(first),
    )
    const left = new Failed({ what: "Cannot install the archive: the client disconnected" })
    // added first: the fetch can be interrupted after it pinned the snapshot
    yield* Effect.addFinalizer(() => releaseAll(fetcher, holder))
    const { id, files } = yield* whileAwaited(whole, left)
    return files.map((entry): ArtifactEntry =>
      entry.kind === "link" ? entry : { ...entry, read: Effect.suspend(() => fetcher.read(id, entry.path, entry.size)) },
    )
  })
