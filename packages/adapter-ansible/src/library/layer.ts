import {
  artifactFault,
  ArtifactLibrary,
  type ArtifactRef,
  describeArtifact,
  goneFault,
  LibraryFault,
  type LibraryScope,
  scopeFault,
  type ScopeListing,
} from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { rmdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { onDisk } from "./faults.ts"
import { folderEntries } from "./folder-entries.ts"
import { artifactParts, isRealFolder, look, scopeFolder } from "./layout.ts"
import { libraryListing } from "./listing.ts"
import { libraryFolder, placeArtifact, withWork } from "./place.ts"
import { readShipped, type ShippedTemplate } from "./shipped.ts"
import { artifactSizes } from "./sizes.ts"
import { moveTo, openLibrary, takeAway } from "./staging.ts"

export interface LibraryOptions {
  /** Folder of installed artifacts. Owned by one process: unfinished work of a killed one is completed at start. */
  readonly folder: string
  /** A source whose templates everybody has, unless one of the same name is installed globally. Nothing writes there. */
  readonly shipped?: string
}

type Shipped = ReadonlyMap<string, ShippedTemplate>

const refuse = (fault: LibraryFault | undefined): Effect.Effect<void, LibraryFault> =>
  fault === undefined ? Effect.void : Effect.fail(fault)

/** Globally installed templates, and those shipped with the service under other names. */
const withShipped = (listing: ScopeListing, shipped: Shipped): ScopeListing => {
  const installed = new Set(listing.templates.map(({ name }) => name))
  const others = [...shipped.values()].flatMap(({ definition }) => (installed.has(definition.name) ? [] : [definition]))
  return { ...listing, templates: [...listing.templates, ...others].toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}

const library = (root: string, shipped: Shipped): Context.Service.Shape<typeof ArtifactLibrary> => {
  const folder = libraryFolder(root)
  const listing = libraryListing(root)
  const changes = Semaphore.makeUnsafe(1)
  const gone = new Set<string>()
  /** To be checked while no user can be removed. */
  const refuseGone = (doing: string, scope: LibraryScope) =>
    Effect.suspend(() => refuse(scope.type === "user" && gone.has(scope.recordId ?? "") ? goneFault(doing) : undefined))
  const folderOf = (artifact: ArtifactRef): string => join(root, ...artifactParts(artifact))
  const there = (doing: string, artifact: ArtifactRef) => onDisk(doing, () => isRealFolder(root, artifactParts(artifact)))
  const entriesOf = (doing: string, artifact: ArtifactRef) =>
    Effect.flatMap(there(doing, artifact), (found) =>
      found ? onDisk(doing, () => folderEntries(doing, folderOf(artifact))) : Effect.undefined,
    )
  const missing = (doing: string) => new LibraryFault({ doing, reason: "missing", detail: "it is not installed" })

  return {
    list: (scope) => {
      const doing = "list what is installed"
      const installed = Effect.andThen(
        refuse(scopeFault(doing, scope)),
        folder.swaps.withPermit(onDisk(doing, () => listing(scope))),
      )
      return scope.type === "global" ? Effect.map(installed, (found) => withShipped(found, shipped)) : installed
    },
    sizes: (scope) => {
      const doing = "count what is installed"
      return Effect.andThen(
        refuse(scopeFault(doing, scope)),
        onDisk(doing, () => artifactSizes(root, scope)),
      )
    },
    place: (artifact, entries, options) => {
      const doing = `install ${describeArtifact(artifact)}`
      return Effect.andThen(
        refuse(artifactFault(doing, artifact)),
        changes.withPermit(
          Effect.andThen(refuseGone(doing, artifact.scope), placeArtifact(doing, folder, artifact, entries, options)),
        ),
      )
    },
    remove: (artifact) => {
      const doing = `remove ${describeArtifact(artifact)}`
      const removal = Effect.gen(function* () {
        if (!(yield* there(doing, artifact))) return false
        yield* withWork(doing, root, (work) => onDisk(doing, () => takeAway(work, folderOf(artifact))))
        // remove the namespace's folder if it has no more collections
        if (artifact.kind === "collection") yield* Effect.ignore(Effect.tryPromise(() => rmdir(dirname(folderOf(artifact)))))
        return true
      })
      return Effect.andThen(refuse(artifactFault(doing, artifact)), changes.withPermit(removal))
    },
    transfer: (artifact, to, mode) => {
      const doing = `${mode} ${describeArtifact(artifact)}`
      const target: ArtifactRef = { ...artifact, scope: to }
      const transferral = Effect.gen(function* () {
        yield* refuseGone(doing, to)
        const entries = yield* entriesOf(doing, artifact)
        if (entries === undefined) return yield* missing(doing)
        if ((yield* onDisk(doing, () => look(folderOf(target)))) !== undefined)
          return yield* new LibraryFault({ doing, reason: "exists", detail: `${describeArtifact(target)} already exists` })
        if (mode === "move") return yield* onDisk(doing, () => moveTo(doing, root, artifact, target))
        yield* Effect.catchTag(placeArtifact(doing, folder, target, entries, { replace: false }), "ContentFault", (fault) =>
          Effect.fail(new LibraryFault({ doing, reason: "unavailable", detail: fault.facts.detail })),
        )
      })
      return Effect.andThen(
        Effect.andThen(refuse(artifactFault(doing, artifact)), refuse(artifactFault(doing, target))),
        changes.withPermit(transferral),
      )
    },
    files: (artifact) => {
      const doing = `read ${describeArtifact(artifact)}`
      const coming = artifact.scope.type === "global" && artifact.kind === "template" ? shipped.get(artifact.name) : undefined
      const found = Effect.flatMap(entriesOf(doing, artifact), (installed) =>
        installed !== undefined || coming === undefined
          ? Effect.succeed(installed)
          : onDisk(doing, () => folderEntries(doing, coming.folder)),
      )
      return Effect.andThen(refuse(artifactFault(doing, artifact)), found)
    },
    removeUser: ({ id, recordId }, last) => {
      const doing = "remove what a user has installed"
      const scope = { type: "user", userId: id } as const
      const removal = Effect.gen(function* () {
        if (yield* onDisk(doing, () => isRealFolder(root, ["users", id])))
          yield* withWork(doing, root, (work) => onDisk(doing, () => takeAway(work, scopeFolder(root, scope))))
        yield* last
        gone.add(recordId)
      })
      return Effect.andThen(refuse(scopeFault(doing, scope)), changes.withPermit(removal))
    },
  }
}

/**
 * Installed artifacts in a folder of this host: `{users/<user>,global}/{roles,collections,templates}`, the layout in which Ansible and
 * packer search them. Fails when the folder cannot be used.
 */
export const libraryLayer = ({ folder, shipped }: LibraryOptions): Layer.Layer<ArtifactLibrary, LibraryFault> =>
  Layer.effect(
    ArtifactLibrary,
    Effect.gen(function* () {
      yield* onDisk("open the folder of installed artifacts", () => openLibrary(folder))
      const coming: Shipped =
        shipped === undefined
          ? new Map()
          : yield* onDisk("read the templates that come with the service", () => readShipped(shipped))
      return library(folder, coming)
    }),
  )
