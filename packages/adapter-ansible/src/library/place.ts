import {
  defaultTreeLimits,
  longestText,
  prepareArtifact,
  type PreparedArtifact,
  preparedTexts,
  receiptsAreStale,
  type TreeEntry,
  treeIntake,
  type TreeProblem,
  versionFiles,
  installedVersion,
} from "@rangewright/domain"
import {
  type ArtifactEntry,
  type ArtifactRef,
  type ContentFault,
  entriesFault,
  LibraryFault,
  type PlaceOptions,
  type PlaceOutcome,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { join } from "node:path"
import { onDisk } from "./faults.ts"
import { artifactParts, isRealFolder, look } from "./layout.ts"
import { isSame } from "./same.ts"
import { makeWork, putInPlace, removeWork, replaceFile, stageFile, stageLink } from "./staging.ts"
import { NotATree, readPlainFile, walk } from "./walk.ts"

/** Number of concurrent listings; swapping two copies waits for them and they for it, so that nobody sees neither copy. */
const mostReaders = 1024

export interface LibraryFolder {
  readonly root: string
  readonly swaps: Semaphore.Semaphore
}

export const libraryFolder = (root: string): LibraryFolder => ({ root, swaps: Semaphore.makeUnsafe(mostReaders) })

type Failure = LibraryFault | ContentFault
/** Small files are written concurrently, each held in memory meanwhile. */
const writers = 8
const smallBytes = 1024 * 1024

const check = (doing: string, problem: TreeProblem | undefined): Effect.Effect<void, LibraryFault> =>
  problem === undefined ? Effect.void : Effect.fail(entriesFault(doing, problem))

/** Provides a work folder for one operation on the library, and removes it afterwards. */
export const withWork = <A, E>(
  doing: string,
  root: string,
  use: (work: string) => Effect.Effect<A, E>,
): Effect.Effect<A, E | LibraryFault> =>
  Effect.acquireUseRelease(
    onDisk(doing, () => makeWork(root)),
    use,
    (work) => Effect.ignore(Effect.tryPromise(() => removeWork(work))),
  )

/** The text files of an artifact that describe it. */
const readTexts = (entries: readonly ArtifactEntry[], wanted: readonly string[]) =>
  Effect.gen(function* () {
    const texts = new Map<string, string>()
    for (const entry of entries) {
      if (entry.kind !== "file" || !wanted.includes(entry.path) || entry.size > longestText) continue
      const bytes = yield* entry.read
      if (bytes.length <= longestText) texts.set(entry.path, new TextDecoder().decode(bytes))
    }
    return texts
  })

const added = ({ added: texts }: PreparedArtifact): readonly ArtifactEntry[] =>
  [...texts].map(([path, text]) => {
    const bytes = new TextEncoder().encode(text)
    return { kind: "file", path, size: bytes.length, executable: false, read: Effect.succeed(bytes) }
  })

const stage = (doing: string, work: string, entries: readonly ArtifactEntry[]): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const intake = treeIntake(defaultTreeLimits)
    const files = entries.filter((entry) => entry.kind === "file")
    const one = (entry: (typeof files)[number]) =>
      Effect.gen(function* () {
        const bytes = yield* entry.read
        yield* check(doing, intake.count(entry.path, bytes.length, bytes.length))
        yield* onDisk(doing, () => stageFile(work, entry.path, bytes, entry.executable))
      })
    const small = files.filter(({ size }) => size <= smallBytes)
    const large = files.filter(({ size }) => size > smallBytes)
    yield* Effect.forEach(small, one, { concurrency: writers, discard: true })
    yield* Effect.forEach(large, one, { discard: true })
    for (const entry of entries) if (entry.kind === "link") yield* onDisk(doing, () => stageLink(work, entry.path, entry.target))
  })

/** Files in an artifact's folder; undefined when there is none. A folder that is not a valid tree equals no copy. */
const treeThere = async (root: string, artifact: ArtifactRef): Promise<readonly TreeEntry[] | undefined> => {
  const parts = artifactParts(artifact)
  const folder = join(root, ...parts)
  if ((await look(folder)) === undefined) return undefined
  if (!(await isRealFolder(root, parts))) return []
  return walk(folder).catch((cause: unknown) => {
    if (cause instanceof NotATree) return []
    throw cause
  })
}

const versionThere = async (artifact: ArtifactRef, folder: string, paths: ReadonlySet<string>): Promise<string | undefined> => {
  const file = versionFiles[artifact.kind].find((path) => paths.has(path))
  if (file === undefined) return undefined
  const bytes = await readPlainFile(join(folder, file), longestText).catch(() => undefined)
  return bytes === undefined ? undefined : installedVersion(file, new TextDecoder().decode(bytes))
}

/** Rewrites the receipts of an existing copy when they are out of date. */
const mendReceipts = (
  doing: string,
  root: string,
  artifact: ArtifactRef,
  prepared: PreparedArtifact,
  there: readonly TreeEntry[],
) => {
  const folder = join(root, ...artifactParts(artifact))
  const paths = new Set(there.map(({ path }) => path))
  return Effect.gen(function* () {
    const known = yield* onDisk(doing, () => versionThere(artifact, folder, paths))
    if (!receiptsAreStale(prepared, known, paths)) return
    for (const receipt of prepared.receipts)
      yield* withWork(doing, root, (work) =>
        onDisk(doing, () => replaceFile(work, join(folder, receipt), prepared.added.get(receipt) ?? "")),
      )
  })
}

/** Installs a copy. Changes of one library must not overlap: the caller serializes them. */
export const placeArtifact = (
  doing: string,
  { root, swaps }: LibraryFolder,
  artifact: ArtifactRef,
  entries: readonly ArtifactEntry[],
  options: PlaceOptions,
): Effect.Effect<PlaceOutcome, Failure> =>
  Effect.gen(function* () {
    const intake = treeIntake(defaultTreeLimits)
    for (const entry of entries) yield* check(doing, intake.admit(entry))
    yield* check(doing, intake.finish())
    const texts = yield* readTexts(entries, preparedTexts(artifact.kind))
    const prepared = prepareArtifact({
      ...artifact,
      ...options,
      paths: new Set(entries.map(({ path }) => path)),
      textOf: (path) => texts.get(path),
      installedOn: new Date(yield* Clock.currentTimeMillis).toISOString(),
    })
    if (Result.isFailure(prepared)) return yield* new LibraryFault({ doing, reason: "broken", detail: prepared.failure })
    const whole = [...entries.filter(({ path }) => !prepared.success.added.has(path)), ...added(prepared.success)]
    const there = yield* onDisk(doing, () => treeThere(root, artifact))
    if (there !== undefined) {
      const { receipts } = prepared.success
      const [has, wants] = [there.filter(({ path }) => !receipts.has(path)), whole.filter(({ path }) => !receipts.has(path))]
      if (yield* isSame(doing, join(root, ...artifactParts(artifact)), has, wants)) {
        yield* mendReceipts(doing, root, artifact, prepared.success, there)
        return "kept"
      }
      if (!options.replace) return "differs"
    }
    yield* withWork(doing, root, (work) =>
      Effect.andThen(
        stage(doing, work, whole),
        swaps.withPermits(mostReaders)(onDisk(doing, () => putInPlace(doing, root, work, artifact))),
      ),
    )
    return there === undefined ? "placed" : "replaced"
  })
