import {
  keptRow,
  type KeptThing,
  type NamedThing,
  type RecordId,
  type SnapshotId,
  type User,
  type UserId,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  type ArtifactRef,
  Blueprints,
  type ContentFault,
  ContentFetcher,
  type LibraryFault,
  Ranges,
  Sources,
  type StorageFault,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { SettingsShape } from "../settings.ts"

/** The services that tell what a user keeps. */
export type KeptServices = ArtifactLibrary | Blueprints | ContentFetcher | Ranges | Sources

/** The use cannot be counted. */
export type UncountedFault = ContentFault | LibraryFault | StorageFault

/** The most bytes that a user may keep on the service's host; 0: unlimited, as for administrators. */
export const diskLimit = ({ userDiskBytes = 0 }: Pick<SettingsShape, "userDiskBytes">, user: Pick<User, "isAdmin">): number =>
  user.isAdmin ? 0 : userDiskBytes

/** Unique names of a user's things. */
export const nameOfSource = (source: RecordId): string => `source ${source}`
export const nameOfBlueprint = (blueprint: RecordId): string => `blueprint ${blueprint}`
export const nameOfPicture = (range: RecordId): string => `range ${range}`
export const nameOfArtifact = ({ kind, name }: Pick<ArtifactRef, "kind" | "name">): string => `${kind} ${name}`

/** Everything that the user keeps at this moment. */
export const keptBy = (userId: UserId): Effect.Effect<ReadonlyMap<string, NamedThing>, UncountedFault, KeptServices> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const blueprints = yield* Blueprints
    const ranges = yield* Ranges
    const sources = yield* Sources
    const things = new Map<string, NamedThing>()
    for (const artifact of yield* library.sizes({ type: "user", userId })) things.set(nameOfArtifact(artifact), artifact)
    for (const { id, recordId, snapshot } of yield* sources.list({ owner: userId }))
      things.set(nameOfSource(recordId), { kind: "source", name: id, ...keptRow(0, snapshot) })
    for (const { id, recordId, bytes, snapshot } of yield* blueprints.sizes(userId))
      things.set(nameOfBlueprint(recordId), { kind: "blueprint", name: id, ...keptRow(bytes, snapshot) })
    for (const { id, recordId, bytes } of yield* ranges.pictureSizes(userId))
      things.set(nameOfPicture(recordId), { kind: "range", name: id, bytes })
    return things
  })

/** The sizes of the content of these things; content that is not on this host, as after a restore, counts 0. */
export const sizesOf = (things: Iterable<KeptThing>): Effect.Effect<(id: SnapshotId) => number, ContentFault, ContentFetcher> =>
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
    return (id) => sizes.get(id) ?? 0
  })
