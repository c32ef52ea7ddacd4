import {
  type ArtifactKind,
  artifactKinds,
  byPath,
  type InstalledCopy,
  installedVersion,
  prepareArtifact,
  readTemplateReceipt,
  receiptsAreStale,
  roleMetadataFiles,
  templateReceiptFile,
  treeBytes,
  versionFiles,
} from "@rangewright/domain"
import {
  type ArtifactEntry,
  artifactFault,
  ArtifactLibrary,
  type ArtifactRef,
  describeArtifact,
  goneFault,
  LibraryFault,
  type LibraryScope,
  scopeFault,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { type MemoryEntry, type MemoryLibrary, sameFiles, textIn } from "./memory-library.ts"
import { takeEntries } from "./take-entries.ts"

const scopeKey = (scope: LibraryScope): string => (scope.type === "global" ? "global" : `user:${scope.userId}`)
const keyOf = ({ scope, kind, name }: ArtifactRef): string => `${scopeKey(scope)}/${kind}/${name}`
const refuse = (fault: LibraryFault | undefined): Effect.Effect<void, LibraryFault> =>
  fault === undefined ? Effect.void : Effect.fail(fault)

const entriesOf = (files: ReadonlyMap<string, MemoryEntry>): readonly ArtifactEntry[] =>
  [...files]
    .map(([path, entry]): ArtifactEntry =>
      entry.kind === "link"
        ? { ...entry, path }
        : {
            kind: "file",
            path,
            size: entry.bytes.length,
            executable: entry.executable,
            read: Effect.succeed(entry.bytes),
          },
    )
    .toSorted(byPath)

const isArtifactKind = (text: string | undefined): text is ArtifactKind => artifactKinds.some((kind) => kind === text)

const versionOf = (kind: "role" | "collection", files: ReadonlyMap<string, MemoryEntry>): string | undefined => {
  const file = versionFiles[kind].find((candidate) => files.has(candidate))
  return file === undefined ? undefined : installedVersion(file, textIn(files, file) ?? "")
}

/** Adds texts that were not given but belong to the copy. */
const addTexts = (files: Map<string, MemoryEntry>, texts: ReadonlyMap<string, string>): void => {
  for (const [path, text] of texts) files.set(path, { kind: "file", bytes: new TextEncoder().encode(text), executable: false })
}

export const memoryLibrary = ({ artifacts, gone }: MemoryLibrary): Context.Service.Shape<typeof ArtifactLibrary> => {
  const changes = Semaphore.makeUnsafe(1)
  /** To be checked while no user can be removed. */
  const refuseGone = (doing: string, scope: LibraryScope) =>
    Effect.suspend(() => refuse(scope.type === "user" && gone.has(scope.recordId ?? "") ? goneFault(doing) : undefined))
  const place: Context.Service.Shape<typeof ArtifactLibrary>["place"] = (artifact, entries, options) =>
    Effect.gen(function* () {
      const doing = `install ${describeArtifact(artifact)}`
      yield* refuse(artifactFault(doing, artifact))
      yield* refuseGone(doing, artifact.scope)
      const files = yield* takeEntries(doing, entries)
      const installedOn = new Date(yield* Clock.currentTimeMillis).toISOString()
      const paths = new Set(files.keys())
      const textOf = (path: string) => textIn(files, path)
      const read = prepareArtifact({ ...artifact, paths, textOf, installedOn, ...options })
      if (Result.isFailure(read)) return yield* new LibraryFault({ doing, reason: "broken", detail: read.failure })
      const prepared = read.success
      addTexts(files, prepared.added)
      const there = artifacts.get(keyOf(artifact))
      if (there === undefined) {
        artifacts.set(keyOf(artifact), files)
        return "placed" as const
      }
      if (sameFiles(files, there, prepared.receipts)) {
        const known = artifact.kind === "template" ? undefined : versionOf(artifact.kind, there)
        if (receiptsAreStale(prepared, known, new Set(there.keys()))) artifacts.set(keyOf(artifact), files)
        return "kept" as const
      }
      if (!options.replace) return "differs" as const
      artifacts.set(keyOf(artifact), files)
      return "replaced" as const
    }).pipe(changes.withPermit)

  const copiesIn = (scope: LibraryScope, kind: "role" | "collection"): readonly InstalledCopy[] => {
    const prefix = `${scopeKey(scope)}/${kind}/`
    return [...artifacts]
      .filter(([key, files]) => key.startsWith(prefix) && (kind !== "role" || roleMetadataFiles.some((file) => files.has(file))))
      .map(([key, files]) => {
        const version = versionOf(kind, files)
        return { name: key.slice(prefix.length), scope: scope.type, ...(version === undefined ? {} : { version }) }
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  return {
    place,
    list: (scope) =>
      Effect.map(refuse(scopeFault("list what is installed", scope)), () => ({
        templates: [...artifacts.keys()]
          .filter((key) => key.startsWith(`${scopeKey(scope)}/template/`))
          .toSorted()
          .map((key) => ({
            name: key.slice(key.lastIndexOf("/") + 1),
            ...readTemplateReceipt(textIn(artifacts.get(key) ?? new Map(), templateReceiptFile)),
          })),
        roles: copiesIn(scope, "role"),
        collections: copiesIn(scope, "collection"),
      })),
    sizes: (scope) =>
      Effect.map(refuse(scopeFault("count what is installed", scope)), () =>
        [...artifacts].flatMap(([key, files]) => {
          const [of, kind, name] = key.split("/")
          return of === scopeKey(scope) && isArtifactKind(kind) && name !== undefined
            ? [{ kind, name, bytes: treeBytes(entriesOf(files)) }]
            : []
        }),
      ),
    remove: (artifact) =>
      Effect.map(refuse(artifactFault(`remove ${describeArtifact(artifact)}`, artifact)), () =>
        artifacts.delete(keyOf(artifact)),
      ),
    transfer: (artifact, to, mode) =>
      Effect.gen(function* () {
        const doing = `${mode} ${describeArtifact(artifact)}`
        const target: ArtifactRef = { ...artifact, scope: to }
        yield* refuse(artifactFault(doing, artifact))
        yield* refuse(artifactFault(doing, target))
        yield* refuseGone(doing, to)
        const files = artifacts.get(keyOf(artifact))
        if (files === undefined) return yield* new LibraryFault({ doing, reason: "missing", detail: "it is not installed" })
        if (artifacts.has(keyOf(target)))
          return yield* new LibraryFault({ doing, reason: "exists", detail: `${describeArtifact(target)} already exists` })
        artifacts.set(keyOf(target), files)
        if (mode === "move") artifacts.delete(keyOf(artifact))
      }).pipe(changes.withPermit),
    files: (artifact) =>
      Effect.map(refuse(artifactFault(`read ${describeArtifact(artifact)}`, artifact)), () => {
        const files = artifacts.get(keyOf(artifact))
        return files === undefined ? undefined : entriesOf(files)
      }),
    removeUser: ({ id, recordId }, last) =>
      Effect.gen(function* () {
        const scope = { type: "user", userId: id } as const
        yield* refuse(scopeFault("remove what a user has installed", scope))
        const prefix = `${scopeKey(scope)}/`
        for (const key of artifacts.keys()) if (key.startsWith(prefix)) artifacts.delete(key)
        yield* last
        gone.add(recordId)
      }).pipe(changes.withPermit),
  }
}

/** An in-memory library. Layers over the same library see the same artifacts. */
export const memoryLibraryLayer = (library: MemoryLibrary): Layer.Layer<ArtifactLibrary> =>
  Layer.succeed(ArtifactLibrary, memoryLibrary(library))
