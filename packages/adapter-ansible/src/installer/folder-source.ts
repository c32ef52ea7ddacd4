import { bestVersion, noSuchVersion, notPublished, parseVersion, roleFolders, type WantedArtifact } from "@rangewright/domain"
import type { ArtifactEntry, ContentFault, ContentFetcher, LibraryFault } from "@rangewright/ports"
import { InstallerFault } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { folderEntries } from "../library/folder-entries.ts"
import { asLibraryFault } from "../library/faults.ts"
import { look } from "../library/layout.ts"
import { fetchedEntries } from "./from-content.ts"
import type { FetchedPackage, MissingPackage, PackageSource } from "./package-source.ts"

/** One version of a role or collection in the folder. */
interface Offer {
  readonly type: "role" | "collection"
  readonly name: string
  /** Undefined for a folder, whose files may name the version. */
  readonly version: string | undefined
  readonly path: string
  readonly packed: boolean
}

/**
 * The names and versions that an archive of a role may mean by `<name>-<version>.tar.gz`: either part may contain `-` and digits. Those with
 * a real version, if there are any.
 */
const readings = (file: string): readonly { readonly name: string; readonly version: string }[] => {
  const base = /^(?<base>.+)\.(?:tar\.gz|tgz)$/u.exec(file)?.groups?.["base"] ?? ""
  const all = [...base.matchAll(/(?<=.)-(?=v?[0-9])/gu)].map(({ index }) => ({
    name: base.slice(0, index),
    version: base.slice(index + 1),
  }))
  const real = all.filter(({ version }) => parseVersion(version) !== undefined)
  return real.length > 0 ? real : all.slice(0, 1)
}
/** `<namespace>-<name>-<version>.tar.gz`, the name of a built collection. */
const collectionArchive = /^(?<namespace>[a-z_][a-z0-9_]*)-(?<name>[a-z_][a-z0-9_]*)-(?<version>[0-9][^/]*)\.tar\.gz$/u

const namesIn = async (folder: string) => ((await look(folder)) === undefined ? [] : readdir(folder, { withFileTypes: true }))

const offersIn = async (folder: string): Promise<readonly Offer[]> => {
  if ((await look(folder)) === undefined) throw new Error("the folder that the service takes them from is missing")
  const [roles, collections] = [join(folder, "roles"), join(folder, "collections")]
  const offeredRoles = (await namesIn(roles)).flatMap((entry): readonly Offer[] => {
    const path = join(roles, entry.name)
    if (entry.isDirectory()) return [{ type: "role", name: entry.name, version: undefined, path, packed: false }]
    return entry.isFile() ? readings(entry.name).map((reading) => ({ type: "role", ...reading, path, packed: true })) : []
  })
  const offeredCollections = (await namesIn(collections)).flatMap((entry): readonly Offer[] => {
    const { namespace, name, version } = collectionArchive.exec(entry.name)?.groups ?? {}
    if (!entry.isFile() || namespace === undefined) return []
    return [{ type: "collection", name: `${namespace}.${name}`, version, path: join(collections, entry.name), packed: true }]
  })
  return [...offeredRoles, ...offeredCollections]
}

/** The best match. A folder without a version matches a request without one; archives take precedence. */
const choose = ({ type, origin, pin }: WantedArtifact, offers: readonly Offer[]): Offer | string => {
  const found = origin.from === "name" ? offers.filter((offer) => offer.type === type && offer.name === origin.name) : []
  if (found.length === 0) return notPublished
  const versions = found.flatMap(({ version }) => version ?? [])
  const best = bestVersion(versions, pin)
  const chosen = found.find(({ version }) => version === best && (best !== undefined || pin === undefined))
  return chosen ?? noSuchVersion(versions, pin)
}

const bringOffer = (
  fetcher: Context.Service.Shape<typeof ContentFetcher>,
  wanted: WantedArtifact,
  { type, version, path, packed }: Offer,
  whose: string,
): Effect.Effect<FetchedPackage | MissingPackage, never, Scope.Scope> => {
  const doing = `read the ${type} ${wanted.asked}`
  const unwrap = type === "role" ? { unwrap: { keep: roleFolders } } : {}
  const entries: Effect.Effect<readonly ArtifactEntry[], ContentFault | LibraryFault, Scope.Scope> = packed
    ? fetchedEntries(fetcher, { type: "archive", file: path, name: "offer.tar.gz", ...unwrap }, whose)
    : Effect.tryPromise({ try: () => folderEntries(doing, path), catch: asLibraryFault(doing) })
  return entries.pipe(
    Effect.map((found): FetchedPackage => ({ type, name: wanted.name ?? "", version, entries: found, wanted })),
    Effect.catch(({ message }) => Effect.succeed<MissingPackage>({ wanted, because: message })),
  )
}

/**
 * A folder of this host as the source of published roles and collections, for sites without a network: `roles/<name>/` or
 * `roles/<name>-<version>.tar.gz`, and `collections/<namespace>-<name>-<version>.tar.gz`. It is read anew each time.
 */
export const folderSource = (folder: string, fetcher: Context.Service.Shape<typeof ContentFetcher>): PackageSource => ({
  fetch: (wanted, output, whose) =>
    Effect.gen(function* () {
      const doing = "install roles and collections"
      const offers = yield* Effect.tryPromise({
        try: () => offersIn(folder),
        catch: (cause) => new InstallerFault({ doing, reason: "failed", detail: asLibraryFault(doing)(cause).facts.detail }),
      })
      return yield* Effect.forEach(wanted, (one) => {
        const offer = choose(one, offers)
        if (typeof offer === "string") return Effect.succeed<MissingPackage>({ wanted: one, because: offer })
        return Effect.andThen(
          output(`- taking ${offer.type} ${offer.name} ${offer.version ?? ""} from the folder\n`),
          bringOffer(fetcher, one, offer, whose),
        )
      })
    }),
})
