import { parseGitRef, parseGitUrl, resolveLinks, treeBytes } from "@rangewright/domain"
import {
  ContentFault,
  type ContentFetcher,
  type ContentLocation,
  type FetchRequest,
  type Snapshot,
  type SnapshotId,
  treeFault,
  urlFault,
} from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { lookUp, type MemoryContent, type MemoryFiles } from "./memory-content.ts"
import { digestOf, takeFiles, type TakenFiles } from "./take-files.ts"

const missing = (doing: string, rule: string, detail: string): ContentFault =>
  new ContentFault({ doing, reason: "not-found", rule, detail })
const refused = (doing: string, rule: string, detail: string): ContentFault =>
  new ContentFault({ doing, reason: "refused", rule, detail })

const defaultMaxBytes = 1024 * 1024

const filesAt = (content: MemoryContent, doing: string, location: Exclude<ContentLocation, { type: "git" }>): MemoryFiles => {
  switch (location.type) {
    case "archive": {
      const given = content.archives.get(location.file)
      if (given === undefined) throw missing(doing, "archive", "its file does not exist")
      return given
    }
    case "download": {
      const url = parseGitUrl(location.url.replace(/[?#].*/su, ""))
      if (Result.isFailure(url)) throw urlFault(doing, url.failure)
      if (url.success.scheme !== "https")
        throw refused(doing, "scheme", `${url.success.scheme} cannot be used to download an archive`)
      const given = content.archives.get(location.url)
      if (given === undefined) throw missing(doing, "archive", "there is no such file")
      return given
    }
    case "folder": {
      const given = content.folders.get(location.path)
      if (given === undefined) throw refused(doing, "folder", "it is not inside a folder that sources may use")
      return given
    }
  }
}

/** The content of a location, with its name. Throws the fault. */
const findState = async (content: MemoryContent, { location }: FetchRequest): Promise<TakenFiles & { readonly id: string }> => {
  const doing = `fetch from the ${location.type}`
  if (location.type === "git") {
    const url = parseGitUrl(location.url)
    if (Result.isFailure(url)) throw urlFault(doing, url.failure)
    const ref = parseGitRef(location.ref ?? "")
    if (ref === undefined) throw refused(doing, "ref", "the ref is neither a valid branch or tag name nor a commit")
    const name = ref.type === "default" ? undefined : ref.type === "name" ? ref.name : ref.commit
    const found = lookUp(content, location.url, name)
    if (found === "no repository") throw missing(doing, "repository", "there is no such repository")
    if (found === "no ref") throw missing(doing, "ref", "the repository has no such branch, tag or commit")
    return { ...takeFiles(doing, found.files), id: found.commit }
  }
  const taken = takeFiles(doing, filesAt(content, doing, location), location.type === "folder" ? undefined : location.unwrap)
  return { ...taken, id: `sha256-${await digestOf(taken)}` }
}

const asFault = (cause: unknown): ContentFault => {
  if (cause instanceof ContentFault) return cause
  throw cause
}

/** Fetches from places in memory. Refuses the same URLs, refs and files as an adapter for the real world. */
export const memoryContentFetcher = (content: MemoryContent): Context.Service.Shape<typeof ContentFetcher> => {
  const stored = (doing: string, id: SnapshotId) =>
    Effect.suspend(() => {
      const found = content.snapshots.get(id)
      return found === undefined ? Effect.fail(missing(doing, "snapshot", "there is no such snapshot")) : Effect.succeed(found)
    })
  const hold = (id: SnapshotId, holder: string): void => {
    content.pins.set(id, (content.pins.get(id) ?? new Set()).add(holder))
  }
  return {
    gitAvailable: Effect.succeed({ available: true, version: "in memory" }),
    fetch: (request) =>
      Effect.gen(function* () {
        const { id: name, files, bytes } = yield* Effect.tryPromise({ try: () => findState(content, request), catch: asFault })
        const id = name as SnapshotId
        const snapshot: Snapshot = { id, root: undefined, files }
        if (!content.snapshots.has(id)) content.snapshots.set(id, { snapshot, bytes })
        hold(id, request.holder)
        yield* (
          request.progress?.({ phase: "writing", item: request.location.type, done: files.length, total: files.length }) ??
            Effect.void
        )
        return snapshot
      }),
    open: (id) => Effect.map(stored("open a snapshot", id), ({ snapshot }) => snapshot),
    read: (id, path, maxBytes = defaultMaxBytes) =>
      Effect.flatMap(stored("read a file", id), ({ snapshot, bytes }) => {
        const at = resolveLinks(path, new Map(snapshot.files.map((entry) => [entry.path, entry])))
        const found = at === undefined ? undefined : bytes.get(at)
        if (found === undefined) return Effect.fail(missing(`read ${path}`, "path", "there is no such file"))
        return found.length > maxBytes
          ? Effect.fail(
              treeFault(`read ${path}`, { rule: "file-too-large", path, detail: `it is larger than ${maxBytes} bytes` }),
            )
          : Effect.succeed(found)
      }),
    size: (id) => Effect.map(stored("count a snapshot", id), ({ snapshot }) => treeBytes(snapshot.files)),
    pin: (id, holder) => Effect.map(stored("pin a snapshot", id), () => hold(id, holder)),
    release: (id, holder) => Effect.sync(() => void content.pins.get(id)?.delete(holder)),
    pinned: (holder) => Effect.sync(() => [...content.pins].filter(([, holders]) => holders.has(holder)).map(([id]) => id)),
    prune: Effect.sync(() => {
      const unpinned = [...content.snapshots.keys()].filter((id) => (content.pins.get(id)?.size ?? 0) === 0)
      for (const id of unpinned) {
        content.snapshots.delete(id)
        content.pins.delete(id)
      }
      return unpinned
    }),
  }
}
