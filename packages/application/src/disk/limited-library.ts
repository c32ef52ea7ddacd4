import { diskRefusal, treeBytes } from "@rangewright/domain"
import { ArtifactLibrary, type ArtifactRef, describeArtifact, LibraryFault, type LibraryScope } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type DiskFault, type DiskServices, keeping, type ToBeKept } from "./keeping.ts"
import { nameOfArtifact } from "./kept.ts"

/** The fault as a `LibraryFault`. */
const asLibraryFault = (doing: string, fault: DiskFault): LibraryFault => {
  switch (fault._tag) {
    case "LibraryFault":
      return fault
    case "UserDiskExceeded": {
      // results of items show only the message, so it includes the hint
      const { detail, hint } = diskRefusal(fault.facts)
      return new LibraryFault({ doing, reason: "limit", detail: `${detail}. ${hint}` })
    }
    case "StorageFault":
    case "ContentFault":
      return new LibraryFault({ doing, reason: "unavailable", detail: fault.message })
  }
}

/**
 * The library with the disk limit of each user: every installation for a user passes here, whatever brought it. Refusals are `LibraryFault`
 * with reason `limit`.
 */
export const limitedLibraryLayer: Layer.Layer<ArtifactLibrary, never, DiskServices> = Layer.effect(
  ArtifactLibrary,
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const services = yield* Effect.context<DiskServices>()
    const within = <A, E>(
      scope: LibraryScope,
      { doing, kind, name, becomes }: Pick<ArtifactRef, "kind" | "name"> & Pick<ToBeKept, "doing" | "becomes">,
      keep: Effect.Effect<A, E | LibraryFault>,
    ): Effect.Effect<A, E | LibraryFault> => {
      if (scope.type === "global") return keep
      const wanted = { owner: scope.userId, doing, name: nameOfArtifact({ kind, name }), becomes }
      // the library's own faults stay as they are
      const kept = keeping(wanted)(Effect.result(keep))
      const counted = Effect.mapError(Effect.provideContext(kept, services), (fault) => asLibraryFault(doing, fault))
      return Effect.flatMap(counted, Effect.fromResult)
    }
    return {
      ...library,
      place: (artifact, entries, options) =>
        within(
          artifact.scope,
          {
            ...artifact,
            doing: `install ${describeArtifact(artifact)}`,
            becomes: (there) => Effect.succeed(there === undefined || options.replace ? { bytes: treeBytes(entries) } : there),
          },
          library.place(artifact, entries, options),
        ),
      transfer: (artifact, to, mode) =>
        Effect.gen(function* () {
          const { kind, name } = artifact
          const sizes = yield* library.sizes(artifact.scope)
          const bytes = sizes.find((one) => one.kind === kind && one.name === name)?.bytes ?? 0
          const doing = `${mode} ${describeArtifact(artifact)}`
          return yield* within(
            to,
            { kind, name, doing, becomes: (there) => Effect.succeed(there ?? { bytes }) },
            library.transfer(artifact, to, mode),
          )
        }),
    }
  }),
)
