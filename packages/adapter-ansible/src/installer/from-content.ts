import {
  collectionManifestFile,
  collectionMetadataFile,
  longestText,
  readCollectionManifest,
  readCollectionSource,
  roleFolders,
} from "@rangewright/domain"
import type { WantedArtifact } from "@rangewright/domain"
import type { ArtifactEntry, ContentFault, ContentFetcher, ContentLocation, Snapshot } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { FetchedPackage, MissingPackage } from "./package-source.ts"

type Fetcher = Context.Service.Shape<typeof ContentFetcher>

/** All files of a snapshot, read from it on demand. */
const entriesOf = (fetcher: Fetcher, { id, files }: Snapshot): readonly ArtifactEntry[] =>
  files.map((entry): ArtifactEntry =>
    entry.kind === "link" ? entry : { ...entry, read: Effect.suspend(() => fetcher.read(id, entry.path, entry.size)) },
  )

/** Fetches content and keeps it until the scope ends. */
export const fetchedEntries = (
  fetcher: Fetcher,
  location: ContentLocation,
  whose: string,
): Effect.Effect<readonly ArtifactEntry[], ContentFault, Scope.Scope> =>
  Effect.gen(function* () {
    const holder = `installer:${randomUUID()}`
    // registered first: the fetch can be interrupted after its content was pinned
    yield* Effect.addFinalizer(() =>
      Effect.ignore(Effect.flatMap(fetcher.pinned(holder), (ids) => Effect.forEach(ids, (id) => fetcher.release(id, holder)))),
    )
    return entriesOf(fetcher, yield* fetcher.fetch({ location, holder, whose }))
  })

/** The text of one of the entries; undefined when it does not exist or may not be read. */
export const entryText = (entries: readonly ArtifactEntry[], path: string): Effect.Effect<string | undefined, ContentFault> => {
  const entry = entries.find((candidate) => candidate.path === path)
  return entry?.kind !== "file" || entry.size > longestText
    ? Effect.undefined
    : Effect.map(entry.read, (bytes) => new TextDecoder().decode(bytes))
}

/** The name in the collection's own files; its repository may have any name. */
const collectionName = (entries: readonly ArtifactEntry[]) =>
  Effect.gen(function* () {
    const manifest = yield* entryText(entries, collectionManifestFile)
    if (manifest !== undefined) return readCollectionManifest(manifest)?.name
    const source = yield* entryText(entries, collectionMetadataFile)
    return source === undefined ? undefined : readCollectionSource(source)?.name
  })

const locationOf = ({ type, origin, pin }: WantedArtifact): ContentLocation | undefined => {
  switch (origin.from) {
    case "git":
      return { type: "git", url: origin.url, ...(pin === undefined ? {} : { ref: pin }) }
    case "url":
      return { type: "download", url: origin.url, ...(type === "role" ? { unwrap: { keep: roleFolders } } : {}) }
    case "name":
      return undefined
  }
}

/** The entries in the artifact's folder of a repository. */
const entriesIn = (entries: readonly ArtifactEntry[], { origin }: WantedArtifact): readonly ArtifactEntry[] => {
  if (origin.from !== "git" || origin.folder === undefined) return entries
  const prefix = `${origin.folder}/`
  return entries.flatMap((entry) => (entry.path.startsWith(prefix) ? [{ ...entry, path: entry.path.slice(prefix.length) }] : []))
}

/** Fetches a role or collection from its repository or archive, by the same rules as every source. */
export const bringFromUrl = (
  fetcher: Fetcher,
  wanted: WantedArtifact,
  whose: string,
): Effect.Effect<FetchedPackage | MissingPackage, never, Scope.Scope> =>
  Effect.gen(function* () {
    const location = locationOf(wanted)
    if (location === undefined) return { wanted, because: "it has no URL" }
    const entries = entriesIn(yield* fetchedEntries(fetcher, location, whose), wanted)
    const name = wanted.type === "role" ? wanted.name : yield* collectionName(entries)
    if (name === undefined) return { wanted, because: "its files do not say what collection it is" }
    return { type: wanted.type, name, version: wanted.pin, entries, wanted }
  }).pipe(Effect.catchTag("ContentFault", ({ message }) => Effect.succeed({ wanted, because: message })))
