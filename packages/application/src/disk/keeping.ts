import {
  diskUse,
  exceedsDisk,
  keptRow,
  type KeptThing,
  type RecordId,
  type SnapshotId,
  UserDiskExceeded,
  type UserId,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  type ArtifactRef,
  Blueprints,
  type ContentFault,
  ContentFetcher,
  type LibraryFault,
  Sources,
  type StorageFault,
  Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"
import { keyedLock } from "../source/keyed-lock.ts"

/** Whatever tells what a user keeps. */
export type DiskServices = ArtifactLibrary | Blueprints | ContentFetcher | Settings | Sources | Users

/** That it is too much, or that it cannot be counted: then nothing is added either. */
export type DiskFault = UserDiskExceeded | ContentFault | LibraryFault | StorageFault

/** What each thing of a user's is called among all of them. */
export const nameOfSource = (source: RecordId): string => `source ${source}`
export const nameOfBlueprint = (blueprint: RecordId): string => `blueprint ${blueprint}`
export const nameOfArtifact = ({ kind, name }: Pick<ArtifactRef, "kind" | "name">): string => `${kind} ${name}`

/** All that the user keeps, as it is stored at this moment. */
const keptBy = (userId: UserId) =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const blueprints = yield* Blueprints
    const sources = yield* Sources
    const things = new Map<string, KeptThing>()
    for (const artifact of yield* library.sizes({ type: "user", userId })) things.set(nameOfArtifact(artifact), artifact)
    for (const { recordId, snapshot } of yield* sources.list({ owner: userId }))
      things.set(nameOfSource(recordId), keptRow(0, snapshot))
    for (const { recordId, bytes, snapshot } of yield* blueprints.sizes(userId))
      things.set(nameOfBlueprint(recordId), keptRow(bytes, snapshot))
    return things
  })

/** What the content of these things takes; what is not on this host, as after a restore, takes nothing. */
const sizesOf = (things: Iterable<KeptThing>) =>
  Effect.gen(function* () {
    const fetcher = yield* ContentFetcher
    const sizes = new Map<SnapshotId, number>()
    for (const { snapshot } of things) {
      if (snapshot === undefined || sizes.has(snapshot)) continue
      const size = Effect.catchIf(
        fetcher.size(snapshot),
        ({ facts }) => facts.rule === "snapshot",
        () => Effect.succeed(0),
      )
      sizes.set(snapshot, yield* size)
    }
    return (id: SnapshotId): number => sizes.get(id) ?? 0
  })

/** Two at once must not both find the last of what a user may have. */
const turns = keyedLock()

/** Something that a user is to keep. */
export interface ToBeKept {
  readonly owner: UserId
  /** Completes "Cannot …". */
  readonly doing: string
  readonly name: string
  /** What is there under this name becomes this, asked when nothing else of the user's changes; what takes no more than before is never refused. */
  readonly becomes: (there: KeptThing | undefined) => Effect.Effect<KeptThing, StorageFault, Blueprints>
}

/**
 * Does `keep`, which stores something of a user's on this host, unless it is more than the user may keep there. The user's other things
 * wait meanwhile, so `keep` is to be short, and must not be nested. Administrators may keep as much as there is.
 */
export const keeping =
  ({ owner, doing, name, becomes }: ToBeKept) =>
  <A, E, R>(keep: Effect.Effect<A, E, R>): Effect.Effect<A, E | DiskFault, R | DiskServices> =>
    Effect.gen(function* () {
      const { userDiskBytes: limit = 0 } = yield* Settings
      const users = yield* Users
      if (limit === 0 || (yield* users.find(owner))?.isAdmin !== false) return yield* keep
      const checked = Effect.gen(function* () {
        const things = yield* keptBy(owner)
        const later = new Map(things).set(name, yield* becomes(things.get(name)))
        const sizeOf = yield* sizesOf([...things.values(), ...later.values()])
        const [before, after] = [diskUse(things.values(), sizeOf), diskUse(later.values(), sizeOf)]
        const change = { user: owner, limit, before, after }
        if (exceedsDisk(change)) return yield* new UserDiskExceeded({ doing, ...change })
        return yield* keep
      })
      return yield* turns(owner)(checked)
    })
