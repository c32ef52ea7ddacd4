import {
  type Blueprint,
  type BlueprintText,
  blueprintTextIssues,
  holderOfBundle,
  idOfSourceBlueprint,
  mostPictureBytes,
  type Picture,
  pictureName,
  type PlannedBlueprint,
  type RecordId,
  type ShippedBlueprint,
} from "@rangewright/domain"
import {
  Blueprints,
  ContentFetcher,
  CredentialHasher,
  type Snapshot,
  type SnapshotId,
  type StorageFault,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { forgetBlueprint, releaseBundles } from "../blueprint/forget-blueprint.ts"
import { keepingBlueprint } from "../blueprint/keep-blueprint.ts"
import { checkedPictureType } from "../blueprint/picture.ts"
import type { DiskServices } from "../disk/keeping.ts"
import type { Installation } from "./installation.ts"
import { type ItemOutcome, itemFailed } from "./item-outcome.ts"

/** What a shipped blueprint says about itself, as stored in its row. */
export const shippedText = ({ name, description, version, tags, minLudusVersion }: ShippedBlueprint): BlueprintText => ({
  name,
  description: description ?? "",
  version,
  tags,
  minVersion: minLudusVersion ?? "",
})

/** The directory of a blueprint in its source. */
export const bundleDirectory = (id: string): string => `blueprints/${id}`

/**
 * Creates the blueprint's row, or updates it to what is shipped now: text, configuration, requirements, picture, and files, which are those
 * of the snapshot from then on, however the source changes. The snapshot is pinned before the row refers to it. May be repeated with the
 * same `recordId`; an existing row keeps its own.
 */
export const installBlueprint = (
  { source, content: { snapshot } }: Installation,
  { publicId, blueprint, change, because }: PlannedBlueprint & { readonly blueprint: ShippedBlueprint },
  recordId: RecordId,
): Effect.Effect<ItemOutcome, StorageFault, CredentialHasher | DiskServices> =>
  Effect.gen(function* () {
    const installed: ItemOutcome = { kind: "blueprint", name: publicId, version: blueprint.version, ok: true }
    if (change === "keep") return installed
    const id = idOfSourceBlueprint(source.id, blueprint.id)
    if (change === "refuse" || id === undefined) return itemFailed("blueprint", publicId, because ?? "it cannot be installed")
    const text = shippedText(blueprint)
    const issues = blueprintTextIssues(text)
    if (issues.length > 0)
      return itemFailed("blueprint", publicId, issues.map(({ path, message }) => `${path}: ${message}`).join("; "))
    const [blueprints, fetcher] = [yield* Blueprints, yield* ContentFetcher]
    yield* fetcher.pin(snapshot.id, holderOfBundle(recordId))
    const { picture, leftOut } = yield* pictureOf(snapshot, blueprint)
    const given = {
      ...text,
      id,
      recordId,
      owner: source.owner,
      config: blueprint.config.text,
      requirements: blueprint.requirementsFile?.text,
      bundle: { snapshot: snapshot.id, directory: bundleDirectory(blueprint.id) },
      thumbnail: picture,
      origin: { source: source.recordId, sourceBlueprintID: blueprint.id },
      createdAt: new Date(yield* Clock.currentTimeMillis),
    }
    const [row] = yield* blueprints.putFromSource([given]).pipe(
      keepingBlueprint(`install blueprint ${publicId}`, given),
      Effect.tapError(() => releaseUnneeded(recordId, snapshot.id)),
    )
    if (row?.recordId !== recordId) yield* releaseBundles(recordId)
    if (row !== undefined) yield* keepOnly(row, snapshot.id)
    return leftOut === undefined ? installed : { ...installed, text: leftOut }
  }).pipe(
    Effect.catchTags({
      BlueprintExists: (fault) => Effect.succeed(itemFailed("blueprint", publicId, fault.message)),
      UserNotFound: () => Effect.succeed(itemFailed("blueprint", publicId, "the owner of its source is gone")),
      ContentFault: (fault) => Effect.succeed(itemFailed("blueprint", publicId, fault.message)),
      LibraryFault: (fault) => Effect.succeed(itemFailed("blueprint", publicId, fault.message)),
      UserDiskExceeded: ({ message, hint }) => Effect.succeed(itemFailed("blueprint", publicId, `${message}. ${hint}`)),
    }),
  )

/** The image that its manifest names; `leftOut`: why it is not kept, because it cannot be read or is not stored. */
const pictureOf = (
  snapshot: Snapshot,
  { thumbnail }: ShippedBlueprint,
): Effect.Effect<{ readonly picture?: Picture; readonly leftOut?: string }, never, ContentFetcher | CredentialHasher> =>
  Effect.gen(function* () {
    const fetcher = yield* ContentFetcher
    const hasher = yield* CredentialHasher
    if (thumbnail === undefined) return {}
    const bytes = yield* fetcher.read(snapshot.id, thumbnail, mostPictureBytes)
    const type = checkedPictureType(bytes)
    const original = thumbnail.slice(thumbnail.lastIndexOf("/") + 1)
    if (Result.isFailure(type)) return { leftOut: `without the picture ${original}: ${type.failure}` }
    return { picture: { name: pictureName(original, hasher.randomText(10), type.success), type: type.success, bytes } }
  }).pipe(Effect.catchTag("ContentFault", ({ message }) => Effect.succeed({ leftOut: `without its picture: ${message}` })))

/** Releases the snapshot unless the row exists and needs it. */
const releaseUnneeded = (recordId: RecordId, snapshot: SnapshotId) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const content = yield* ContentFetcher
    const row = yield* blueprints.findByRecordId(recordId)
    if (row?.bundle?.snapshot !== snapshot) yield* content.release(snapshot, holderOfBundle(recordId))
  })

/** Pins this snapshot for the blueprint, and releases all others. */
const keepOnly = (row: Blueprint, snapshot: SnapshotId) =>
  Effect.gen(function* () {
    const content = yield* ContentFetcher
    const holder = holderOfBundle(row.recordId)
    yield* content.pin(snapshot, holder)
    for (const old of yield* content.pinned(holder)) if (old !== snapshot) yield* content.release(old, holder)
  })

/** Removes the rows of blueprints that the source no longer ships, or that are uninstalled. May be repeated with the same rows. */
export const removeBlueprints = (source: RecordId, rows: readonly SourceRow[]) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    if (rows.length === 0) return
    yield* blueprints.removeOfSource(
      source,
      rows.map(({ sourceBlueprintID }) => sourceBlueprintID),
    )
    for (const { recordId } of rows) yield* forgetBlueprint(recordId)
  })

/** A blueprint row of a source, by its ID in the source and its record ID. */
export interface SourceRow {
  readonly sourceBlueprintID: string
  readonly recordId: RecordId
}
