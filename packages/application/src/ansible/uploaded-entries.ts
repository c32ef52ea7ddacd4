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
  /** The names by which it is tried: the ending says what it is. */
  readonly names: readonly string[]
  /** The one folder that all of it lies in is left out, unless it is one of these; absent: it stays. */
  readonly keep?: readonly string[]
}

/** What is in the archive, to be read as long as the scope lasts. It is unpacked in a thread of its own, with limits. */
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
    // first: what is fetched can be interrupted, and may be pinned by then
    yield* Effect.addFinalizer(() => releaseAll(fetcher, holder))
    const { id, files } = yield* whileAwaited(whole, left)
    return files.map((entry): ArtifactEntry =>
      entry.kind === "link" ? entry : { ...entry, read: Effect.suspend(() => fetcher.read(id, entry.path, entry.size)) },
    )
  })
