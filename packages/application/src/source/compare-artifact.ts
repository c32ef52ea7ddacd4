import { longestText, type PlannedArtifact, prepareArtifact, preparedTexts } from "@rangewright/domain"
import {
  type ArtifactEntry,
  ArtifactLibrary,
  type ContentFault,
  type ContentFetcher,
  type LibraryFault,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type ArtifactInstallation, scopeFor } from "./installation.ts"
import { snapshotEntries } from "./snapshot-entries.ts"

const utf8 = new TextDecoder()

/**
 * Whether the installed copy is what the source ships, by the rule of the library: additions by the installation do not count. Reads both,
 * but only as much as needed.
 */
export const isSameCopy = (
  installation: ArtifactInstallation,
  { kind, name, directory, version, description }: PlannedArtifact,
): Effect.Effect<boolean, LibraryFault | ContentFault, ArtifactLibrary | ContentFetcher> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const shipped = byPath(yield* snapshotEntries(installation.content.snapshot, directory))
    const there = yield* library.files({ scope: scopeFor(kind, installation), kind, name })
    const texts = new Map<string, string>()
    for (const path of preparedTexts(kind)) {
      const entry = shipped.get(path)
      if (entry?.kind === "file" && entry.size <= longestText) texts.set(path, utf8.decode(yield* entry.read))
    }
    const prepared = prepareArtifact({
      kind,
      name,
      paths: new Set(shipped.keys()),
      textOf: (path) => texts.get(path),
      ...(version === undefined ? {} : { version }),
      ...(description === undefined ? {} : { description }),
      installedOn: "",
    })
    if (there === undefined || Result.isFailure(prepared)) return false
    const { added, receipts } = prepared.success
    for (const [path, text] of added) shipped.set(path, fileOf(path, text))
    const copy = byPath(there)
    for (const path of receipts) for (const entries of [shipped, copy]) entries.delete(path)
    return yield* haveSameFiles([...shipped.values()], [...copy.values()])
  })

/** Whether two copies have the same files. Reads both, but only as much as needed. */
export const haveSameFiles = (
  one: readonly ArtifactEntry[],
  other: readonly ArtifactEntry[],
): Effect.Effect<boolean, ContentFault> =>
  Effect.gen(function* () {
    const others = byPath(other)
    if (one.length !== others.size) return false
    for (const entry of one) if (!(yield* isSameEntry(entry, others.get(entry.path)))) return false
    return true
  })

const byPath = (entries: readonly ArtifactEntry[]): Map<string, ArtifactEntry> =>
  new Map(entries.map((entry) => [entry.path, entry]))

const fileOf = (path: string, text: string): ArtifactEntry => {
  const bytes = new TextEncoder().encode(text)
  return { kind: "file", path, size: bytes.length, executable: false, read: Effect.succeed(bytes) }
}

const isSameEntry = (one: ArtifactEntry, other: ArtifactEntry | undefined): Effect.Effect<boolean, ContentFault> => {
  if (other === undefined) return Effect.succeed(false)
  if (one.kind === "link" || other.kind === "link")
    return Effect.succeed(one.kind === "link" && other.kind === "link" && one.target === other.target)
  if (one.size !== other.size || one.executable !== other.executable) return Effect.succeed(false)
  return Effect.map(Effect.all([one.read, other.read]), ([a, b]) => a.every((byte, at) => byte === b[at]))
}
