import {
  bestVersion,
  type Fetched,
  resolveDependencies,
  installedVersions,
  noSuchVersion,
  notPublished,
} from "@rangewright/domain"
import { type ArtifactEntry, ArtifactLibrary, InstallerFault, RoleInstaller } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MemoryGalaxy } from "./memory-galaxy.ts"

interface Release extends Fetched {
  readonly entries: readonly ArtifactEntry[]
}

/** Installs from a table, by the rules of every installer. */
const memoryInstaller = (
  galaxy: MemoryGalaxy,
  library: Context.Service.Shape<typeof ArtifactLibrary>,
): Context.Service.Shape<typeof RoleInstaller> => ({
  install: ({ scope, force, output, ...asked }) =>
    Effect.gen(function* () {
      const listing = yield* Effect.mapError(
        library.list(scope),
        ({ message }) => new InstallerFault({ doing: "install roles and collections", reason: "failed", detail: message }),
      )
      const resolver = resolveDependencies<Release>(asked, installedVersions(listing), force)
      for (let wanted = resolver.next(new Map()); wanted.length > 0; wanted = resolver.next(new Map()))
        for (const one of wanted) {
          const { type, origin, name = "", pin } = one
          const offered = (type === "role" ? galaxy.roles : galaxy.collections).get(origin.from === "name" ? origin.name : "")
          const version = bestVersion([...(offered?.keys() ?? [])], pin)
          const release = offered?.get(version ?? "")
          if (origin.from !== "name") resolver.onFailed(one, "it comes from a URL, which is not looked up by name")
          else if (offered === undefined) resolver.onFailed(one, notPublished)
          else if (release === undefined) resolver.onFailed(one, noSuchVersion([...offered.keys()], pin))
          else {
            const { entries, roles = [], collections = [] } = release
            resolver.onFetched({ type, name, version, entries, needs: { roles, collections }, wanted: one })
          }
        }
      for (const thing of resolver.placements()) {
        if (!resolver.isSound(thing)) continue
        const { type, name, version, entries } = thing
        const told = version === undefined ? {} : { version }
        yield* library.place({ scope, kind: type, name }, entries, { ...told, replace: true }).pipe(
          Effect.map(() => resolver.onPlaced(thing)),
          Effect.catch(({ message, facts: { reason } }) =>
            Effect.sync(() => resolver.onFailed(thing, message, reason === "limit" ? { exceedsLimit: true } : {})),
          ),
        )
      }
      const outcomes = resolver.outcomes()
      for (const { name, outcome } of outcomes) yield* output?.(`${name}: ${outcome}\n`) ?? Effect.void
      return outcomes
    }),
})

/** Installs roles and collections from a table into the library. */
export const memoryInstallerLayer = (galaxy: MemoryGalaxy): Layer.Layer<RoleInstaller, never, ArtifactLibrary> =>
  Layer.effect(
    RoleInstaller,
    Effect.map(ArtifactLibrary, (library) => memoryInstaller(galaxy, library)),
  )
