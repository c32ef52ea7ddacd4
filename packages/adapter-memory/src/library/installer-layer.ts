import { type Decision, decideInstalls, installedVersions } from "@rangewright/domain"
import {
  ArtifactLibrary,
  type ContentFault,
  InstallerFault,
  type InstallOutcome,
  type LibraryFault,
  type LibraryScope,
  RoleInstaller,
  settledOutcome,
} from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type MemoryGalaxy, publishedIn } from "./memory-galaxy.ts"

/** Installs from what a table holds. */
const memoryInstaller = (
  galaxy: MemoryGalaxy,
  library: Context.Service.Shape<typeof ArtifactLibrary>,
): Context.Service.Shape<typeof RoleInstaller> => {
  const carryOut = (scope: LibraryScope, decision: Decision): Effect.Effect<InstallOutcome, LibraryFault | ContentFault> => {
    if (decision.decision !== "install") return Effect.succeed(settledOutcome(decision))
    const { type, asked, name, origin, version } = decision
    const entries = (type === "role" ? galaxy.roles : galaxy.collections).get(origin)?.get(version)?.entries ?? []
    return Effect.as(library.place({ scope, kind: type, name }, entries, { version, replace: true }), {
      type,
      name: asked,
      version,
      outcome: "installed",
    })
  }
  return {
    available: Effect.succeed({ available: true, version: "in memory" }),
    install: ({ scope, roles, collections, force, output }) =>
      Effect.gen(function* () {
        const listing = yield* Effect.mapError(
          library.list(scope),
          ({ message }) => new InstallerFault({ doing: "install roles and collections", reason: "failed", detail: message }),
        )
        const decisions = decideInstalls({ roles, collections }, installedVersions(listing), publishedIn(galaxy), force)
        return yield* Effect.forEach(decisions, (decision) =>
          carryOut(scope, decision).pipe(
            Effect.catch(({ message }) =>
              Effect.succeed<InstallOutcome>({ type: decision.type, name: decision.asked, outcome: "failed", because: message }),
            ),
            Effect.tap(({ name, outcome }) => output?.(`${name}: ${outcome}\n`) ?? Effect.void),
          ),
        )
      }),
  }
}

/** Roles and collections out of a table, put into the library. */
export const memoryInstallerLayer = (galaxy: MemoryGalaxy): Layer.Layer<RoleInstaller, never, ArtifactLibrary> =>
  Layer.effect(
    RoleInstaller,
    Effect.map(ArtifactLibrary, (library) => memoryInstaller(galaxy, library)),
  )
