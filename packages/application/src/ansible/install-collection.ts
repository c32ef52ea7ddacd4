import { type CollectionRequirement, Conflict, type Failed, type Forbidden, type InvalidInput } from "@rangewright/domain"
import {
  ArtifactLibrary,
  type LibraryFault,
  type LibraryScope,
  type RoleInstaller,
  Sources,
  type StorageFault,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { fetchAndInstall } from "./fetch-and-install.ts"

const collectionClaims = ["local-collection", "galaxy-collection"] as const

/** A collection by `<namespace>.<name>`, or by the URL of its repository or archive. */
export const collectionRequirement = (collection: string, version: string | undefined): CollectionRequirement => ({
  name: collection,
  ...(version === undefined || version === "" ? {} : { version }),
})

/**
 * Installs a collection. One that is already installed and fits is a conflict whose text clients match; another version is replaced even
 * without force, as `ansible-galaxy` does.
 */
export const installCollection = (
  requirement: CollectionRequirement,
  scope: LibraryScope,
  force: boolean,
): Effect.Effect<void, Conflict | Failed | Forbidden | InvalidInput, RoleInstaller> =>
  Effect.gen(function* () {
    const first = yield* fetchAndInstall({ type: "collection", requirement }, scope, force)
    if (first.outcome === "other-version") {
      yield* fetchAndInstall({ type: "collection", requirement }, scope, true)
      return
    }
    if (first.outcome === "present") {
      const version = first.version === undefined ? "" : ` (${first.version})`
      return yield* new Conflict({
        what: `Nothing to do: ${first.name}${version} is already installed`,
        hint: "Use force to install it again.",
      })
    }
  })

/** Removes a collection of one scope, if it is there, and the claims of sources on it. */
export const removeCollection = (
  name: string,
  scope: LibraryScope,
): Effect.Effect<void, LibraryFault | StorageFault, ArtifactLibrary | Sources> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const sources = yield* Sources
    yield* library.remove({ scope, kind: "collection", name })
    yield* sources.release(collectionClaims, name, scope)
  })
