import { Failed } from "@rangewright/domain"
import { type ArtifactEntry, ContentFetcher, type LibraryScope } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { whileAwaited } from "../operation/caller-gone.ts"
import type { StoredFile } from "../operation/operation.ts"

const releaseAll = ({ pinned, release }: Context.Service.Shape<typeof ContentFetcher>, holder: string) =>
  Effect.ignore(Effect.flatMap(pinned(holder), (ids) => Effect.forEach(ids, (id) => release(id, holder))))

/**
 * The entries of an uploaded archive, readable for the scope's lifetime. It is unpacked in a separate thread, with limits. Clients name the
 * file after what it contains, so its content gives the format. A single top-level folder is stripped unless it is one of `keep`; without
 * `keep` it stays.
 */
export const uploadedEntries = (file: StoredFile, scope: LibraryScope, keep?: readonly string[]) =>
  Effect.gen(function* () {
    const fetcher = yield* ContentFetcher
    const holder = `upload:${file.path}`
    const whose = scope.type === "user" ? `user ${scope.userId}` : "everybody"
    const unwrap = keep === undefined ? {} : { unwrap: { keep } }
    const location = { type: "archive", file: file.path, name: file.filename, byContent: true, ...unwrap } as const
    const left = new Failed({ what: "Cannot install the archive: the client disconnected" })
    // added first: the fetch can be interrupted after it pinned the snapshot
    yield* Effect.addFinalizer(() => releaseAll(fetcher, holder))
    const { id, files } = yield* whileAwaited(fetcher.fetch({ location, holder, whose }), left)
    return files.map((entry): ArtifactEntry =>
      entry.kind === "link" ? entry : { ...entry, read: Effect.suspend(() => fetcher.read(id, entry.path, entry.size)) },
    )
  })
