import { Failed, InvalidInput, isArtifactName, roleFolders, roleOfArchive } from "@rangewright/domain"
import {
  type ArtifactEntry,
  ArtifactLibrary,
  type ContentFault,
  ContentFetcher,
  type LibraryScope,
  type PlaceOutcome,
} from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { whileAwaited } from "../operation/caller-gone.ts"
import type { StoredFile } from "../operation/operation.ts"
import { hostFailures } from "./installed.ts"

const known = /\.(?:tar\.gz|tgz|tar|zip)$/iu

/** The names by which a file is tried: clients send a plain tar without an ending. */
const namesFor = (filename: string): readonly string[] => (known.test(filename) ? [filename] : ["role.tar", "role.tar.gz"])

/**
 * Installs the role that was uploaded as an archive, under the name of the file (contract C 8.3). The one folder that all of it lies in is
 * left out. Tells whether it is there now, or something else stays because replacing it was not asked for.
 */
export const installRoleArchive = (
  file: StoredFile,
  scope: LibraryScope,
  replace: boolean,
): Effect.Effect<
  { readonly name: string; readonly placement: PlaceOutcome },
  Failed | InvalidInput | ContentFault,
  ArtifactLibrary | ContentFetcher
> =>
  Effect.gen(function* () {
    const name = roleOfArchive(file.filename)
    if (!isArtifactName("role", name))
      return yield* new InvalidInput({
        what: `Cannot install the archive ${JSON.stringify(file.filename.slice(0, 200))}: no role can be called as its file`,
        hint: "Name the file after the role, as in acme.web.tar.",
      })
    const placement = yield* Effect.scoped(
      Effect.gen(function* () {
        const entries = yield* uploadedEntries(file, scope)
        return yield* (yield* ArtifactLibrary).place({ scope, kind: "role", name }, entries, { replace })
      }),
    )
    return { name, placement }
  }).pipe(
    hostFailures,
    Effect.catchTag("LibraryFault", ({ message, hint, facts }) => {
      const said = { what: message, ...(hint === undefined ? {} : { hint }) }
      return Effect.fail(facts.reason === "broken" ? new InvalidInput(said) : new Failed(said))
    }),
  )

const releaseAll = ({ pinned, release }: Context.Service.Shape<typeof ContentFetcher>, holder: string) =>
  Effect.ignore(Effect.flatMap(pinned(holder), (ids) => Effect.forEach(ids, (id) => release(id, holder))))

/** What is in the archive, to be read as long as the scope lasts. */
const uploadedEntries = (file: StoredFile, scope: LibraryScope) =>
  Effect.gen(function* () {
    const fetcher = yield* ContentFetcher
    const holder = `upload:${file.path}`
    const whose = scope.type === "user" ? `user ${scope.userId}` : "everybody"
    const fetched = (name: string) =>
      fetcher.fetch({ location: { type: "archive", file: file.path, name, unwrap: { keep: roleFolders } }, holder, whose })
    const [first = "role.tar", ...others] = namesFor(file.filename)
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
