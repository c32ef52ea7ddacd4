import { type Failed, type Forbidden, InvalidInput, isArtifactName, roleFolders, roleOfArchive } from "@rangewright/domain"
import { ArtifactLibrary, type ContentFault, type ContentFetcher, type LibraryScope, type PlaceOutcome } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { StoredFile } from "../operation/operation.ts"
import { asArchiveRefusal, hostFailures } from "./installed.ts"
import { uploadedEntries } from "./uploaded-entries.ts"

/**
 * Installs a role that was uploaded as an archive, under the name of the file. Strips a single top-level folder. Returns whether the role
 * is in place now, or something else stays because `replace` is false.
 */
export const installRoleArchive = (
  file: StoredFile,
  scope: LibraryScope,
  replace: boolean,
): Effect.Effect<
  { readonly name: string; readonly placement: PlaceOutcome },
  Failed | Forbidden | InvalidInput | ContentFault,
  ArtifactLibrary | ContentFetcher
> =>
  Effect.gen(function* () {
    const name = roleOfArchive(file.filename)
    if (!isArtifactName("role", name))
      return yield* new InvalidInput({
        what: `Cannot install the archive ${JSON.stringify(file.filename.slice(0, 200))}: its file name is not a valid role name`,
        hint: "Name the file after the role, as in acme.web.tar.",
      })
    const placement = yield* Effect.scoped(
      Effect.gen(function* () {
        const library = yield* ArtifactLibrary
        const entries = yield* uploadedEntries(file, scope, roleFolders)
        return yield* library.place({ scope, kind: "role", name }, entries, { replace })
      }),
    )
    return { name, placement }
  }).pipe(
    hostFailures,
    Effect.catchTag("LibraryFault", (fault) => Effect.fail(asArchiveRefusal(fault))),
  )
