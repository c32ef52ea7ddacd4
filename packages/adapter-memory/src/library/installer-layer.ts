import { bestVersion, type Fetched, installAccount, installedVersions, noSuchVersion, notPublished } from "@rangewright/domain"
import { type ArtifactEntry, ArtifactLibrary, InstallerFault, RoleInstaller } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MemoryGalaxy } from "./memory-galaxy.ts"

interface Release extends Fetched {
  readonly entries: readonly ArtifactEntry[]
}

/** Installs from what a table holds, by the rules of every installer. */
const memoryInstaller = (
  galaxy: MemoryGalaxy,
  library: Context.Service.Shape<typeof ArtifactLibrary>,
): Context.Service.Shape<typeof RoleInstaller> => ({
  available: Effect.succeed({ available: true, version: "in memory" }),
  install: ({ scope, force, output, ...asked }) =>
    Effect.gen(function* () {
      const listing = yield* Effect.mapError(
        library.list(scope),
        ({ message }) => new InstallerFault({ doing: "install roles and collections", reason: "failed", detail: message }),
      )
      const account = installAccount<Release>(asked, installedVersions(listing), force)
      for (let wanted = account.next(new Map()); wanted.length > 0; wanted = account.next(new Map()))
        for (const one of wanted) {
          const { type, origin, name = "", pin } = one
          const offered = (type === "role" ? galaxy.roles : galaxy.collections).get(origin.from === "name" ? origin.name : "")
          const version = bestVersion([...(offered?.keys() ?? [])], pin)
          const release = offered?.get(version ?? "")
          if (origin.from !== "name") account.missed(one, "it comes from a URL, which is not looked up by name")
          else if (offered === undefined) account.missed(one, notPublished)
          else if (release === undefined) account.missed(one, noSuchVersion([...offered.keys()], pin))
          else {
            const { entries, roles = [], collections = [] } = release
            account.arrived({ type, name, version, entries, needs: { roles, collections }, wanted: one })
          }
        }
      for (const thing of account.placements()) {
        if (!account.isSound(thing)) continue
        const { type, name, version, entries } = thing
        const told = version === undefined ? {} : { version }
        yield* library.place({ scope, kind: type, name }, entries, { ...told, replace: true }).pipe(
          Effect.map(() => account.placed(thing)),
          Effect.catch(({ message }) => Effect.sync(() => account.missed(thing, message))),
        )
      }
      const outcomes = account.outcomes()
      for (const { name, outcome } of outcomes) yield* output?.(`${name}: ${outcome}\n`) ?? Effect.void
      return outcomes
    }),
})

/** Roles and collections out of a table, put into the library. */
export const memoryInstallerLayer = (galaxy: MemoryGalaxy): Layer.Layer<RoleInstaller, never, ArtifactLibrary> =>
  Layer.effect(
    RoleInstaller,
    Effect.map(ArtifactLibrary, (library) => memoryInstaller(galaxy, library)),
  )
