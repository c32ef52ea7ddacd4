import { showGitUrl, treeBytes, type TreeEntry } from "@rangewright/domain"
import {
  ContentFault,
  type ContentFetcher,
  type ContentLocation,
  type ContentProgress,
  type FetchRequest,
  type Snapshot,
} from "@rangewright/ports"
import type { ToolHost } from "@rangewright/host-tools"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { join } from "node:path"
import { readArchive } from "./archive/read-archive.ts"
import { awaited } from "./awaited.ts"
import { asFault } from "./faults.ts"
import { readFolder } from "./folder/read-folder.ts"
import { gitAvailability, requireGit } from "./git/availability.ts"
import { fetchGit, unpackCommit } from "./git/fetch-git.ts"
import { keyedLock } from "./keyed-lock.ts"
import type { Settings } from "./options.ts"
import { download } from "./network/download.ts"
import { progressOf } from "./progress.ts"
import { flushed } from "./store/flushed.ts"
import { type Folders, scratchFolder } from "./store/folders.ts"
import { staleRepositories } from "./store/repositories.ts"
import { removeFolder } from "./store/remove-folder.ts"
import type { SnapshotStore } from "./store/snapshot-store.ts"
import { type StagedTree, stagedTree } from "./store/staged-tree.ts"

type GitLocation = Extract<ContentLocation, { type: "git" }>
type HostLocation = Exclude<ContentLocation, GitLocation>
/** Locations that are read from this host's disk. */
type ReadLocation = Exclude<HostLocation, { type: "download" }>
type Report = (progress: ContentProgress) => void

const doingOf = (location: ContentLocation): string => {
  switch (location.type) {
    case "git":
      return `fetch ${showGitUrl(location.url)}`
    case "download":
      return `download ${showGitUrl(location.url)}`
    case "archive":
      return `unpack ${showGitUrl(location.name)}`
    case "folder":
      return `read the folder ${showGitUrl(location.path)}`
  }
}

const itemOf = (location: HostLocation): string => {
  switch (location.type) {
    case "download":
      return location.url
    case "archive":
      return location.name
    case "folder":
      return location.path
  }
}

/** Downloads a URL to an archive on this host, named by the URL's ending. */
const onHost = async (
  doing: string,
  location: HostLocation,
  file: string,
  settings: Settings,
  signal: AbortSignal,
): Promise<ReadLocation> => {
  if (location.type !== "download") return location
  await download(doing, location.url, file, settings, signal)
  const path = location.url.replace(/[?#].*/su, "")
  const name = path.slice(path.lastIndexOf("/") + 1)
  return { type: "archive", file, name, ...(location.unwrap === undefined ? {} : { unwrap: location.unwrap }) }
}

/** The fetcher for one data folder. */
export const contentFetcher = (
  settings: Settings,
  host: ToolHost,
  folders: Folders,
  store: SnapshotStore,
): Context.Service.Shape<typeof ContentFetcher> => {
  const lock = keyedLock()
  // publishing, pinning and pruning must not overlap; fetches may
  const changing = Semaphore.makeUnsafe(1)
  /** The caches in use by each fetch. */
  const fetching = new Set<ReadonlySet<string>>()
  /** Bytes that fetches may have left since the last pruning: a snapshot, and about as much in the cache of a repository. */
  let unpruned = 0
  const storing = <A>(doing: string, work: () => Promise<A>): Effect.Effect<A, ContentFault> =>
    changing.withPermit(Effect.uninterruptible(Effect.tryPromise({ try: work, catch: asFault(doing) })))
  /** On disk before it is published: a power loss leaves all of it, or nothing. */
  const publishing = (doing: string, id: string, staged: string, entries: readonly TreeEntry[], holder: string) =>
    Effect.andThen(
      Effect.promise(() => flushed(staged)),
      storing(doing, () => store.publish(doing, id, staged, entries, holder)),
    )
  const gitAvailable = gitAvailability(settings.git, host)
  // the user's own turn first: work waiting for it takes no turn away from others
  const readers = Semaphore.makeUnsafe(settings.archivesAtOnce)
  const reading = <A, E>(whose: string, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    lock(`archives of ${whose}`, readers.withPermit(work))

  const fromGit = (
    doing: string,
    location: GitLocation,
    holder: string,
    scratch: string,
    report: Report,
    using: (folder: string) => void,
  ) =>
    Effect.gen(function* () {
      yield* requireGit(doing, yield* gitAvailable)
      const { repositories } = folders
      const commits = yield* fetchGit({ settings, host, repositories, scratch, lock, report, using }, location)
      const [{ commit: id }] = commits
      const known = yield* storing(doing, () => store.adopt(doing, id, holder))
      if (known !== undefined) return known
      const staged = join(scratch, "staged")
      const tree = stagedTree(staged, settings.tree)
      const { entries } = yield* Effect.gen(function* () {
        for (const commit of commits) {
          const item = commit.at === "" ? showGitUrl(location.url) : commit.at
          yield* unpackCommit(commit, tree, (done, total) => report({ phase: "writing", item, done, total }))
        }
        return yield* awaited(doing, () => tree.finish())
      }).pipe(Effect.ensuring(Effect.promise(tree.settled)))
      return yield* publishing(doing, id, staged, entries, holder)
    })

  const readFolderInto = async (doing: string, path: string, staged: string, onFile: () => void, signal: AbortSignal) => {
    const staging = stagedTree(staged, settings.tree)
    const tree: StagedTree = {
      ...staging,
      write: async (file, content) => {
        await staging.write(file, content)
        onFile()
      },
    }
    try {
      await readFolder(doing, path, settings, tree, signal)
      return await tree.finish()
    } finally {
      await tree.settled()
    }
  }

  const fromHost = (
    doing: string,
    wanted: HostLocation,
    { holder, whose = holder }: FetchRequest,
    scratch: string,
    report: Report,
  ) =>
    Effect.gen(function* () {
      const item = showGitUrl(itemOf(wanted))
      const staged = join(scratch, "staged")
      const location = yield* awaited(doing, (signal) => onHost(doing, wanted, join(scratch, "download"), settings, signal))
      const written = (done: number) => report({ phase: "writing", item, done })
      let files = 0
      const { entries, digest } =
        location.type === "archive"
          ? yield* reading(
              whose,
              awaited(doing, (signal) => readArchive(doing, location, staged, settings, written, signal)),
            )
          : yield* awaited(doing, (signal) => readFolderInto(doing, location.path, staged, () => written(++files), signal))
      return yield* publishing(doing, `sha256-${digest}`, staged, entries, holder)
    })

  const fetch = (request: FetchRequest): Effect.Effect<Snapshot, ContentFault> => {
    const { location, holder, progress } = request
    const doing = doingOf(location)
    const { report, delivered } = progressOf(progress)
    const caches = new Set<string>()
    const work = Effect.scoped(
      Effect.gen(function* () {
        const scratch = yield* Effect.mapError(scratchFolder(folders), asFault(doing))
        return yield* location.type === "git"
          ? fromGit(doing, location, holder, scratch, report, (folder) => caches.add(folder))
          : fromHost(doing, location, request, scratch, report)
      }),
    ).pipe(
      Effect.tap(({ files }) => Effect.sync(() => (unpruned += treeBytes(files)))),
      // a refused fetch leaves what it received in the repository's cache
      Effect.tapError(() => Effect.sync(() => (unpruned += location.type === "git" ? settings.transferBytes : 0))),
    )
    const counted = Effect.acquireUseRelease(
      Effect.sync(() => fetching.add(caches)),
      () => delivered(work),
      () => Effect.sync(() => fetching.delete(caches)),
    )
    return Effect.andThen(pruneInTime, counted).pipe(
      Effect.timeoutOrElse({
        duration: Duration.seconds(settings.timeoutSeconds),
        orElse: () =>
          Effect.fail(new ContentFault({ doing, reason: "timeout", detail: `it took longer than ${settings.timeoutSeconds} s` })),
      }),
    )
  }

  const isUsed = (cache: string): boolean => [...fetching].some((caches) => caches.has(cache))
  /** A fetch registers the caches it uses before waiting for the lock, so it either finds the cache or recreates it. */
  const forgetRepository = (doing: string, cache: string): Effect.Effect<void, ContentFault> =>
    Effect.suspend(() =>
      isUsed(cache)
        ? Effect.void
        : lock(
            cache,
            Effect.suspend(() => (isUsed(cache) ? Effect.void : awaited(doing, () => removeFolder(cache)))),
          ),
    )
  const prune = Effect.scoped(
    Effect.gen(function* () {
      const doing = "prune snapshots"
      unpruned = 0
      const scratch = yield* Effect.mapError(scratchFolder(folders), asFault(doing))
      const removed = yield* storing(doing, () => store.prune(scratch))
      const stale = yield* storing(doing, () => staleRepositories(folders.repositories, settings))
      yield* Effect.forEach(stale, (cache) => forgetRepository(doing, cache), { discard: true })
      return removed
    }),
  )
  const pruneInTime = Effect.suspend(() =>
    unpruned > settings.unprunedBytes ? Effect.ignore(prune, { log: "Warn" }) : Effect.void,
  )

  return {
    gitAvailable,
    fetch,
    open: (id) => {
      const doing = `open snapshot ${showGitUrl(id)}`
      return Effect.tryPromise({ try: () => store.open(doing, id), catch: asFault(doing) })
    },
    read: (id, path, maxBytes) => {
      const doing = `read ${showGitUrl(path)} of snapshot ${showGitUrl(id)}`
      return Effect.tryPromise({ try: () => store.read(doing, id, path, maxBytes), catch: asFault(doing) })
    },
    size: (id) => {
      const doing = `count snapshot ${showGitUrl(id)}`
      return Effect.tryPromise({ try: () => store.size(doing, id), catch: asFault(doing) })
    },
    pin: (id, holder) => {
      const doing = `pin snapshot ${showGitUrl(id)}`
      return Effect.asVoid(storing(doing, () => store.pin(doing, id, holder)))
    },
    release: (id, holder) => storing(`release snapshot ${showGitUrl(id)}`, () => store.release(id, holder)),
    pinned: (holder) => Effect.tryPromise({ try: () => store.pinned(holder), catch: asFault("list pinned snapshots") }),
    prune,
  }
}
