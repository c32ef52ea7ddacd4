import type { GitRef } from "@rangewright/domain"
import { ContentFault, type ContentProgress } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { mkdir, readdir, rm, utimes } from "node:fs/promises"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { asFault, type Doing } from "../faults.ts"
import type { Settings } from "../options.ts"
import type { Connection, GitPlace } from "./access.ts"
import { objectFormat } from "./failures.ts"
import { collect, runGit } from "./process.ts"
import { progressReader } from "./progress.ts"

/**
 * A bare repository on this host that caches what was fetched from one remote. It never has a work tree, so nothing of the remote's can
 * run.
 */
export interface Repository {
  readonly folder: string
  readonly run: <A>(
    args: readonly string[],
    consume: (output: Readable) => Promise<A>,
    more?: {
      readonly input?: string
      readonly connection?: Connection
      readonly onLine?: (line: string) => void
    },
  ) => Effect.Effect<A, ContentFault>
}

const memoryBytes = 3 * 1024 ** 3

export const repositoryAt = (doing: Doing, folder: string, { settings, host, scratch }: GitPlace): Repository => ({
  folder,
  run: (args, consume, more = {}) =>
    runGit(
      {
        doing,
        program: settings.git,
        repository: folder,
        args,
        config: more.connection?.config ?? [],
        env: more.connection?.env ?? {},
        fileBytes: settings.transferBytes,
        memoryBytes,
        confinement: { host, scratch, mounts: more.connection?.mounts ?? [], servers: more.connection?.servers ?? [] },
        ...(more.input === undefined ? {} : { input: more.input }),
      },
      consume,
      more.onLine,
    ),
})

/** The folder of a remote's cache. */
export const repositoryFolder = (root: string, remote: string): string =>
  join(root, createHash("sha256").update(remote).digest("hex").slice(0, 40))

const leftovers = /(?:\.lock|^tmp_.*)$/u

/** Removes leftovers of a killed git: locks that would block the next one, unfinished packs. Nobody else may write meanwhile. */
const sweep = async (folder: string): Promise<void> => {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && leftovers.test(entry.name)) await rm(join(entry.parentPath, entry.name), { force: true })
}

/** Cleans up after a failed fetch: removes what it received, or the whole cache if it holds nothing yet. */
const tidy = async (folder: string): Promise<void> => {
  const held = await readdir(join(folder, "refs", "held")).catch(() => [])
  if (held.some((name) => !leftovers.test(name))) await sweep(folder)
  else await rm(folder, { recursive: true, force: true })
}

/** A damaged cache would stay damaged: removes it, and the next fetch creates a new one. */
export const forgetWhenBroken =
  (repository: Repository) =>
  <A>(work: Effect.Effect<A, ContentFault>): Effect.Effect<A, ContentFault> =>
    Effect.tapError(work, ({ facts }) =>
      facts.reason === "broken"
        ? Effect.ignore(Effect.tryPromise(() => rm(repository.folder, { recursive: true, force: true })))
        : Effect.void,
    )

const wanted = (ref: GitRef): string => (ref.type === "default" ? "HEAD" : ref.type === "name" ? ref.name : ref.commit)

/**
 * Fetches one commit without history, and returns its id. What the cache already has is not transferred again, but the remote is always
 * asked: without read access to it nobody gets anything out of the cache. One fetch at a time on a repository.
 */
export const fetchCommit = (
  doing: Doing,
  repository: Repository,
  connection: Connection,
  ref: GitRef,
  settings: Settings,
  item: string,
  report: (progress: ContentProgress) => void,
): Effect.Effect<string, ContentFault> =>
  Effect.gen(function* () {
    const onDisk = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: asFault(doing) })
    const isNew = yield* onDisk(async () => {
      await mkdir(repository.folder, { recursive: true })
      await sweep(repository.folder)
      await utimes(repository.folder, new Date(), new Date())
      return (await readdir(repository.folder)).length === 0
    })
    const text = collect(doing, 64 * 1024)
    const init = (...more: readonly string[]) => repository.run(["init", "--bare", "--quiet", "--template=", ...more], text)
    // most repositories have this form, whatever newer versions of git prefer; an existing cache keeps its own
    yield* isNew ? init("--object-format=sha1") : init()
    report({ phase: "connecting", item, done: 0 })
    const want = wanted(ref)
    const held = `refs/held/${createHash("sha256").update(want).digest("hex").slice(0, 40)}`
    const fetch = repository.run(
      // oxfmt-ignore
      [
        "fetch", "--progress", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
        "--end-of-options", connection.remote, `+${want}:${held}`,
      ],
      text,
      { connection, onLine: progressReader(doing, item, settings.objects, report) },
    )
    const anew = Effect.gen(function* () {
      yield* onDisk(async () => {
        await rm(repository.folder, { recursive: true, force: true })
        await mkdir(repository.folder, { recursive: true })
      })
      yield* init("--object-format=sha256")
      yield* fetch
    })
    // a cache holds objects of one form, and which one the remote has is known once it is asked
    yield* fetch.pipe(Effect.catch((fault) => (fault.facts.rule === objectFormat ? anew : Effect.fail(fault))))
    const commit = (yield* repository.run(["rev-parse", "--verify", "--end-of-options", `${held}^{commit}`], text))
      .toString()
      .trim()
    if (ref.type === "commit" && commit !== ref.commit)
      return yield* new ContentFault({ doing, reason: "not-found", rule: "ref", detail: `${ref.commit} is not a commit` })
    return commit
  }).pipe(Effect.onError(() => Effect.ignore(Effect.tryPromise(() => tidy(repository.folder)))))
