import { type Fault, keptRow, rootsOfLayout, type SnapshotId, type Source, howTo } from "@rangewright/domain"
import {
  ContentFault,
  ContentFetcher,
  type ContentLocation,
  type ContentProgress,
  type SyncResult,
  type SecretStore,
  type Snapshot,
  Sources,
  type StorageFault,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type DiskServices, keeping } from "../disk/keeping.ts"
import { nameOfSource } from "../disk/kept.ts"
import type { StoredFile } from "../operation/operation.ts"
import { openedAccess } from "./source-access.ts"
import { SourceContents } from "./source-contents.ts"
import type { SnapshotContent } from "./read-content.ts"

/** The holder that pins the content of a source. */
export const holderOfSource = ({ recordId }: Pick<Source, "recordId">): string => `source:${recordId}`

export interface FetchOptions {
  /** The content of an upload; absent: its existing content is used again. */
  readonly archive?: StoredFile
  readonly progress?: (progress: ContentProgress) => Effect.Effect<void>
  /** What else is stored with the content. `manifest`: the source's manifest applies from now on. */
  readonly with?: { readonly manifest?: true; readonly outcome?: NonNullable<SyncResult["outcome"]> }
}

/** A source with its current content. */
export interface FetchedSource {
  readonly source: Source
  readonly content: SnapshotContent
}

/** The location of the source's content; undefined: only here, as for an upload whose archive is gone. */
const locationOf = (source: Source, archive: StoredFile | undefined) =>
  Effect.gen(function* () {
    switch (source.type) {
      case "git": {
        const access = yield* openedAccess(source)
        const { url, ref } = source
        return { type: "git", url, ref, ...(access === undefined ? {} : { access }) } satisfies ContentLocation
      }
      case "folder":
        return { type: "folder", path: source.path } satisfies ContentLocation
      case "upload":
        return archive === undefined
          ? undefined
          : ({
              type: "archive",
              file: archive.path,
              name: archive.filename,
              unwrap: { keep: rootsOfLayout },
            } satisfies ContentLocation)
    }
  })

/** Releases all pins of the source except that of its current content, including those that a killed process or a failed fetch left. */
const releaseOthers = Effect.fnUntraced(function* (
  source: Pick<Source, "recordId">,
): Effect.fn.Return<void, ContentFault | StorageFault, ContentFetcher | Sources> {
  const fetcher = yield* ContentFetcher
  const sources = yield* Sources
  const holder = holderOfSource(source)
  const current = (yield* sources.findByRecordId(source.recordId))?.snapshot
  for (const id of yield* fetcher.pinned(holder)) if (id !== current) yield* fetcher.release(id, holder)
})

/** Releases all content of removed sources. What nobody else needs is removed by the next pruning. */
export const releaseSource = (source: Pick<Source, "recordId">): Effect.Effect<void, never, ContentFetcher | Sources> =>
  releaseOthers(source).pipe(Effect.ignore({ log: "Warn" }))

/** The content of the source is no longer stored here, and cannot be fetched again. */
const lost = ({ id, type }: Source): ContentFault =>
  new ContentFault({
    doing: `read source ${id}`,
    reason: "not-found",
    rule: "snapshot",
    detail: "its content is no longer stored here, and its origin no longer has it",
    hint:
      type === "upload"
        ? `Send its archive again: PATCH /sources/${id}.`
        : `Fetch the current content: ${howTo("POST /sources/{sourceID}/sync", { sourceID: id })}.`,
  })

const nothingThere = (source: Source): ContentFault =>
  new ContentFault({
    doing: `read source ${source.id}`,
    reason: "not-found",
    detail: "no archive has been sent yet",
    hint: `Send one: PATCH /sources/${source.id}.`,
  })

/** Fetches again a commit of the source's repository that is no longer stored here, such as after a restore. */
const fetchedAgain = Effect.fnUntraced(function* (
  source: Source,
  id: SnapshotId,
): Effect.fn.Return<Snapshot, Fault, ContentFetcher | SecretStore | Sources> {
  const location = source.type === "upload" ? undefined : yield* locationOf(source, undefined)
  if (location === undefined) return yield* lost(source)
  const fetcher = yield* ContentFetcher
  const holder = holderOfSource(source)
  const again = fetcher.fetch({ location: location.type === "git" ? { ...location, ref: id } : location, holder })
  const snapshot = yield* Effect.catchIf(
    again,
    ({ facts }) => facts.reason === "not-found",
    () => lost(source),
  )
  yield* releaseSource(source)
  return snapshot.id === id ? snapshot : yield* lost(source)
})

/** The current content of the source; undefined: none. */
export const contentOf = Effect.fnUntraced(function* (
  source: Source,
): Effect.fn.Return<SnapshotContent | undefined, Fault, ContentFetcher | SecretStore | SourceContents | Sources> {
  const { snapshot } = source
  if (snapshot === undefined) return undefined
  const contents = yield* SourceContents
  return yield* contents
    .ofId(snapshot)
    .pipe(
      Effect.catchTag("ContentFault", (fault) =>
        fault.facts.rule === "snapshot"
          ? Effect.flatMap(fetchedAgain(source, snapshot), contents.ofSnapshot)
          : Effect.fail(fault),
      ),
    )
})

/**
 * Fetches what the source ships now, reads it, and stores it as the source's content, with the additions. Content that must be refused
 * changes nothing, and the source keeps what it had. Call it inside `SourceContents.alone`.
 */
export const fetchSource = Effect.fnUntraced(function* (
  source: Source,
  { archive, progress, with: result = {} }: FetchOptions = {},
): Effect.fn.Return<FetchedSource, Fault, DiskServices | SecretStore | SourceContents> {
  const fetcher = yield* ContentFetcher
  const contents = yield* SourceContents
  const holder = holderOfSource(source)
  const work = Effect.gen(function* () {
    const sources = yield* Sources
    const location = yield* locationOf(source, archive)
    const content =
      location === undefined
        ? yield* contentOf(source)
        : yield* Effect.flatMap(
            fetcher.fetch({ location, holder, whose: `user ${source.owner}`, ...(progress === undefined ? {} : { progress }) }),
            contents.ofSnapshot,
          )
    if (content === undefined) return yield* nothingThere(source)
    const { id } = content.snapshot
    const commit = sources.commitSync(source, {
      snapshot: id,
      ...(location === undefined ? {} : { syncedAt: new Date(yield* Clock.currentTimeMillis) }),
      ...(result.manifest === undefined ? {} : { manifest: content.content.manifest }),
      ...(result.outcome === undefined ? {} : { outcome: result.outcome }),
    })
    const synced = yield* keeping({
      owner: source.owner,
      doing: `keep what source ${source.id} ships`,
      name: nameOfSource(source.recordId),
      becomes: () => Effect.succeed(keptRow(0, id)),
    })(commit)
    // another process that worked on this source may have released it before this one was stored
    yield* fetcher.pin(id, holder)
    return { source: synced, content }
  })
  return yield* Effect.ensuring(work, releaseSource(source))
})
