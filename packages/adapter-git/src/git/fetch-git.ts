import {
  type GitRef,
  type GitUrl,
  parseGitRef,
  parseGitUrl,
  parseSubmoduleUrl,
  sameServer,
  showGitUrl,
} from "@rangewright/domain"
import { ContentFault, type ContentLocation, type ContentProgress, type GitAccess, urlFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { asFault, refused } from "../faults.ts"
import { destinationOf } from "../network/destination.ts"
import type { StagedTree } from "../store/staged-tree.ts"
import { connectionTo, type GitPlace } from "./access.ts"
import { readBlobs } from "./blobs.ts"
import { type GitFile, type GitTree, listTree } from "./list-tree.ts"
import { fetchCommit, forgetWhenBroken, repositoryAt, repositoryFolder, type Repository } from "./repository.ts"
import { submodulesOf } from "./submodules.ts"

/** A commit in the cache, and where its files belong: at the top, or at the path of a submodule. */
export interface FetchedCommit {
  readonly doing: string
  readonly at: string
  readonly repository: Repository
  readonly commit: string
  readonly tree: GitTree
}

export interface GitFetch extends GitPlace {
  readonly repositories: string
  /** Called before a repository's cache is used: it must be kept until this fetch ends. */
  readonly using: (folder: string) => void
  readonly lock: <A, E>(key: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  readonly report: (progress: ContentProgress) => void
}

const checkedUrl = (doing: string, result: ReturnType<typeof parseGitUrl>) =>
  Result.isFailure(result) ? Effect.fail(urlFault(doing, result.failure)) : Effect.succeed(result.success)

const fetchOne = (fetch: GitFetch, doing: string, at: string, url: GitUrl, ref: GitRef, access: GitAccess | undefined) =>
  Effect.gen(function* () {
    const { settings } = fetch
    const promised = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: asFault(doing) })
    const destination = yield* promised(() => destinationOf(doing, url, settings))
    const connection = yield* promised(() => connectionTo(doing, fetch, destination, access))
    const repository = repositoryAt(doing, repositoryFolder(fetch.repositories, destination.url.remote), fetch)
    fetch.using(repository.folder)
    const item = at === "" ? showGitUrl(url.remote) : at
    const { commit, tree } = yield* fetch.lock(
      repository.folder,
      Effect.gen(function* () {
        const fetched = yield* fetchCommit(doing, repository, connection, ref, settings, item, fetch.report)
        return { commit: fetched, tree: yield* listTree(doing, repository, fetched, settings) }
      }).pipe(forgetWhenBroken(repository)),
    )
    return { doing, at, repository, commit, tree }
  })

/**
 * Fetches the commit of a location, and those of its submodules, each by the same rules as the first. Credentials are sent only to the same
 * server. Unpacks nothing.
 */
export const fetchGit = (
  fetch: GitFetch,
  location: Extract<ContentLocation, { type: "git" }>,
): Effect.Effect<readonly [FetchedCommit, ...FetchedCommit[]], ContentFault> =>
  Effect.gen(function* () {
    const { settings } = fetch
    const doing = `fetch ${showGitUrl(location.url)}`
    const first = yield* checkedUrl(doing, parseGitUrl(location.url))
    const ref = parseGitRef(location.ref ?? "")
    if (ref === undefined) return yield* refused(doing, "ref", "the ref is neither a valid branch or tag name nor a commit")
    const top = yield* fetchOne(fetch, doing, "", first, ref, location.access)
    const found: [FetchedCommit, ...FetchedCommit[]] = [top]

    const below = (parent: FetchedCommit, url: GitUrl, depth: number): Effect.Effect<void, ContentFault> =>
      Effect.gen(function* () {
        for (const submodule of yield* submodulesOf(parent.doing, parent.repository, parent.commit, parent.tree)) {
          const at = parent.at === "" ? submodule.path : `${parent.at}/${submodule.path}`
          const doingIt = `${doing} (submodule ${JSON.stringify(at).slice(1, -1)} from ${showGitUrl(submodule.url)})`
          if (found.length > settings.submodules.count || depth > settings.submodules.depth)
            return yield* new ContentFault({
              doing: doingIt,
              reason: "too-large",
              rule: "submodules",
              detail: `there are more than ${settings.submodules.count} submodules, or they nest deeper than ${settings.submodules.depth}`,
            })
          const to = yield* checkedUrl(doingIt, parseSubmoduleUrl(url, submodule.url))
          const access = sameServer(first, to) ? location.access : undefined
          const child = yield* fetchOne(fetch, doingIt, at, to, { type: "commit", commit: submodule.commit }, access)
          found.push(child)
          yield* below(child, to, depth + 1)
        }
      })
    yield* below(top, first, 1)
    return found
  })

const textOf = async (content: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** A link's target is in its blob; the kernel accepts no longer one. */
const maxTargetBytes = 4096

/** Writes the files of a fetched commit into the tree. */
export const unpackCommit = (
  { doing, at, repository, tree }: FetchedCommit,
  staged: StagedTree,
  report: (done: number, total: number) => void,
): Effect.Effect<void, ContentFault> =>
  Effect.suspend(() => {
    const place = (path: string) => (at === "" ? path : `${at}/${path}`)
    const oversized = tree.files.find(({ kind, size }) => kind === "link" && size > maxTargetBytes)
    if (oversized !== undefined)
      return Effect.fail(refused(doing, "link", `${place(oversized.path)}: the link's target is too long`))
    let done = 0
    return readBlobs(doing, repository, tree.files, async (file: GitFile, content) => {
      const path = place(file.path)
      if (file.kind === "link") staged.admit({ kind: "link", path, target: await textOf(content) })
      else {
        const entry = { kind: "file", path, size: file.size, executable: file.executable } as const
        staged.admit(entry)
        await staged.write(entry, content)
      }
      report(++done, tree.files.length)
    }).pipe(forgetWhenBroken(repository))
  })
