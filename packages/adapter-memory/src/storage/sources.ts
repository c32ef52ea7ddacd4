import {
  describedBy,
  newlyMadeSource,
  sameOrigin,
  type Source,
  SourceExists,
  SourceMoved,
  SourceNotFound,
  UserNotFound,
} from "@rangewright/domain"
import { type LibraryScope, longestClaimName, type SourceClaim, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import type { MemoryStore, StoredSource } from "./memory-store.ts"

const newestFirst = (a: Source, b: Source): number => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? -1 : 1)
const longestDueFirst = (a: Source, b: Source): number => Number(a.nextSyncAt) - Number(b.nextSyncAt) || (a.id < b.id ? -1 : 1)

const holderOf = (scope: LibraryScope): string => (scope.type === "global" ? "" : scope.userId)
/** Claims with the same key are the same claim; the list is sorted by key. */
const keyOf = ({ kind, name, scope }: SourceClaim): string => [kind, name, holderOf(scope)].join("\0")

export const sourcesLayer = (store: MemoryStore): Layer.Layer<Sources> => {
  const { atomically, change } = writesTo(store)
  const all = () => [...store.sources.values()].map(({ source }) => source)
  const firstOf = (test: (source: Source) => boolean) => Effect.sync(() => all().find(test))
  const known = (recordId: Source["recordId"], shown: string = recordId) => {
    const found = store.sources.get(recordId)
    return found === undefined ? Result.fail(new SourceNotFound({ source: shown })) : Result.succeed(found)
  }
  const put = (stored: StoredSource): Source => {
    store.sources.set(stored.source.recordId, stored)
    return stored.source
  }

  return Layer.succeed(Sources, {
    find: (id) => firstOf((source) => source.id === id),
    findByRecordId: (id) => firstOf((source) => source.recordId === id),
    list: ({ owner } = {}) =>
      Effect.sync(() =>
        all()
          .filter((source) => owner === undefined || source.owner === owner)
          .sort(newestFirst),
      ),
    create: ({ access, ...wanted }) =>
      atomically(function* () {
        if (!store.users.has(wanted.owner)) return yield* Result.fail(new UserNotFound({ userId: wanted.owner }))
        if (all().some(({ id }) => id === wanted.id)) return yield* Result.fail(new SourceExists({ source: wanted.id }))
        return put({ source: newlyMadeSource(wanted), access, claims: [] })
      }),
    change: (recordId, change) =>
      atomically(function* () {
        const stored = yield* known(recordId)
        const before = stored.source
        const { access, ...rest } = change
        const source = { ...before, ...rest }
        // a change of url or path means other content, so the old content is dropped; a different ref of the same place keeps it
        const elsewhere = source.url !== before.url || source.path !== before.path
        return put({
          ...stored,
          source: elsewhere ? { ...source, snapshot: undefined } : source,
          ...("access" in change ? { access } : {}),
        })
      }),
    access: (recordId) => Effect.sync(() => store.sources.get(recordId)?.access),
    commitSync: (expected, { snapshot, syncedAt, manifest, outcome }) =>
      atomically(function* () {
        const stored = yield* known(expected.recordId, expected.id)
        if (!sameOrigin(stored.source, expected)) return yield* Result.fail(new SourceMoved({ source: expected.id }))
        const source: Source = {
          ...stored.source,
          ...(manifest === undefined ? {} : describedBy(manifest)),
          snapshot,
          ...(syncedAt === undefined ? {} : { lastSyncedAt: syncedAt }),
          ...(outcome === undefined ? {} : { lastSyncStatus: outcome.status, lastSyncError: outcome.error }),
        }
        return put({ ...stored, source })
      }),
    setOutcome: (recordId, { status, error }) =>
      change(() => {
        const stored = store.sources.get(recordId)
        if (stored !== undefined) put({ ...stored, source: { ...stored.source, lastSyncStatus: status, lastSyncError: error } })
      }),
    remove: (recordId) => change(() => void store.sources.delete(recordId)),
    removeUnfetched: (expected) =>
      change(() => {
        const stored = store.sources.get(expected.recordId)?.source
        const isMeant = stored !== undefined && stored.snapshot === undefined && sameOrigin(stored, expected)
        return isMeant && store.sources.delete(expected.recordId)
      }),
    due: (now) =>
      Effect.sync(() =>
        all()
          .filter(({ nextSyncAt }) => nextSyncAt !== undefined && nextSyncAt <= now)
          .sort(longestDueFirst),
      ),
    postpone: (recordId, from, to) =>
      change(() => {
        const stored = store.sources.get(recordId)
        if (stored?.source.nextSyncAt?.getTime() !== from.getTime()) return false
        put({ ...stored, source: { ...stored.source, nextSyncAt: to } })
        return true
      }),
    claims: (recordId) => Effect.sync(() => store.sources.get(recordId)?.claims ?? []),
    allClaims: Effect.sync(() =>
      [...store.sources.values()]
        .toSorted((a, b) => (a.source.id < b.source.id ? -1 : 1))
        .flatMap(({ source: { recordId, id }, claims }) => claims.map((claim) => ({ ...claim, source: { recordId, id } }))),
    ),
    claim: (recordId, claims) =>
      atomically(function* () {
        const stored = yield* known(recordId)
        const taken = claims.filter(
          ({ name, scope }) => name.length <= longestClaimName && (scope.type === "global" || store.users.has(scope.userId)),
        )
        const byKey = new Map([...stored.claims, ...taken].map((claim) => [keyOf(claim), claim]))
        put({ ...stored, claims: [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, claim]) => claim) })
      }),
    release: (kinds, name, scope) =>
      change(() => {
        const gone = (claim: SourceClaim) =>
          kinds.includes(claim.kind) && claim.name === name && holderOf(claim.scope) === holderOf(scope)
        for (const stored of store.sources.values()) put({ ...stored, claims: stored.claims.filter((claim) => !gone(claim)) })
      }),
  })
}

/**
 * Effects of removing a user on sources, as cascading deletes would have: their own are removed, and so is everything installed for them.
 */
export const dropUserOfSources = (store: MemoryStore, gone: string): void => {
  for (const [recordId, stored] of store.sources)
    if (stored.source.owner === gone) store.sources.delete(recordId)
    else store.sources.set(recordId, { ...stored, claims: stored.claims.filter(({ scope }) => holderOf(scope) !== gone) })
}
