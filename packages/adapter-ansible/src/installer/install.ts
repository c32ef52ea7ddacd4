import { type DependencyResolver, resolveDependencies, installedVersions } from "@rangewright/domain"
import {
  ArtifactLibrary,
  ContentFetcher,
  InstallerFault,
  type InstallOutcome,
  type InstallRequest,
  type RoleInstaller,
} from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { bringFromUrl } from "./from-content.ts"
import type { PackageSource } from "./package-source.ts"
import { type InspectedPackage, inspect } from "./inspect.ts"

type HostCollections = Effect.Effect<ReadonlyMap<string, string | undefined>>
type Library = Context.Service.Shape<typeof ArtifactLibrary>
type Fetcher = Context.Service.Shape<typeof ContentFetcher>

/** Fetches what is requested, then its dependencies, and so on, each round at once. Installs nothing yet. */
const fetchAll = (
  source: PackageSource,
  fetcher: Fetcher,
  hostCollections: HostCollections,
  resolver: DependencyResolver<InspectedPackage>,
  { scope, output = () => Effect.void }: InstallRequest,
): Effect.Effect<void, InstallerFault, Scope.Scope> =>
  Effect.gen(function* () {
    const whose = scope.type === "user" ? `user ${scope.userId}` : "everybody"
    while (true) {
      const wanted = resolver.next(resolver.asksForCollections() ? yield* hostCollections : new Map())
      if (wanted.length === 0) return
      const [named, located] = [
        wanted.filter(({ origin }) => origin.from === "name"),
        wanted.filter(({ origin }) => origin.from !== "name"),
      ]
      const brought = yield* Effect.forEach(located, (one) => bringFromUrl(fetcher, one, whose))
      const supplied = named.length === 0 ? [] : yield* source.fetch(named, output, whose)
      for (const one of [...brought, ...supplied]) {
        if ("because" in one) resolver.onFailed(one.wanted, one.because)
        else
          yield* inspect(one).pipe(
            Effect.map(resolver.onFetched),
            // a package that only came along was not requested yet: it fails once something requests it
            Effect.catch(({ message }) =>
              Effect.sync(() => (one.wanted === undefined ? undefined : resolver.onFailed(one.wanted, message))),
            ),
          )
      }
    }
  })

/**
 * Installs everything whose dependencies are met, each either completely or not at all. Until here the caller may interrupt; from here on
 * it is carried through.
 */
const placeAll = (
  { place }: Library,
  resolver: DependencyResolver<InspectedPackage>,
  { scope }: InstallRequest,
): Effect.Effect<void> =>
  Effect.uninterruptible(
    Effect.forEach(
      resolver.placements(),
      (thing) => {
        if (!resolver.isSound(thing)) return Effect.void
        const { type, name, version, entries } = thing
        const told = version === undefined ? {} : { version }
        return place({ scope, kind: type, name }, entries, { ...told, replace: true }).pipe(
          Effect.map(() => resolver.onPlaced(thing)),
          Effect.catch(({ message, facts: { reason } }) =>
            Effect.sync(() => resolver.onFailed(thing, message, reason === "limit" ? { exceedsLimit: true } : {})),
          ),
        )
      },
      { discard: true },
    ),
  )

const install = (
  source: PackageSource,
  library: Library,
  fetcher: Fetcher,
  hostCollections: HostCollections,
  request: InstallRequest,
): Effect.Effect<readonly InstallOutcome[], InstallerFault> =>
  Effect.scoped(
    Effect.gen(function* () {
      const listing = yield* Effect.mapError(
        library.list(request.scope),
        ({ message }) => new InstallerFault({ doing: "install roles and collections", reason: "failed", detail: message }),
      )
      const resolver = resolveDependencies<InspectedPackage>(request, installedVersions(listing), request.force)
      yield* fetchAll(source, fetcher, hostCollections, resolver, request)
      yield* placeAll(library, resolver, request)
      return resolver.outcomes()
    }),
  )

/**
 * An installer that fetches named packages from a source, and those with a URL from there. Reads the collections of the host's Ansible
 * once.
 */
export const installerFrom = (
  source: PackageSource,
  hostCollections: HostCollections,
): Effect.Effect<Context.Service.Shape<typeof RoleInstaller>, never, ArtifactLibrary | ContentFetcher> =>
  Effect.gen(function* () {
    const [library, fetcher] = [yield* ArtifactLibrary, yield* ContentFetcher]
    const ofHost = yield* Effect.cached(hostCollections)
    return { install: (request) => install(source, library, fetcher, ofHost, request) }
  })
