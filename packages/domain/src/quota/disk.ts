import type { UserId } from "../access/ids.ts"
import type { Picture } from "../blueprint/picture.ts"
import { utf8Length } from "../content/utf8.ts"
import type { SnapshotId } from "../content/snapshot-id.ts"
import { defineFault } from "../fault/fault.ts"
import type { ArtifactKind } from "../library/artifact.ts"

/** Something that a user stores on the service's host: a blueprint, a source, an installed artifact, or the picture of a range. */
export interface KeptThing {
  readonly bytes: number
  /** The content it needs, which counts once however many of the user's items need it. */
  readonly snapshot?: SnapshotId | undefined
}

/** The same, with its name for display. */
export interface NamedThing extends KeptThing {
  readonly kind: "blueprint" | "range" | "source" | ArtifactKind
  readonly name: string
}

/** Cost of a row: at least the size of a blueprint's descriptive texts, or of a source's credentials. */
const rowBytes = 40 * 1024

/** A source or blueprint: the cost of its row, plus `bytes`. */
export const keptRow = (bytes: number, snapshot: SnapshotId | undefined): KeptThing => ({ bytes: rowBytes + bytes, snapshot })

/** The size of a blueprint without its row and the content with its files. */
export const blueprintBytes = (of: {
  readonly config: string
  readonly requirements: string | undefined
  readonly picture: Picture | undefined
}): number => utf8Length(of.config) + utf8Length(of.requirements ?? "") + (of.picture?.bytes.length ?? 0)

/** Total size of a user's items. `sizeOf`: bytes of a snapshot; content that is not on this host counts as 0. */
export const diskUse = (things: Iterable<KeptThing>, sizeOf: (snapshot: SnapshotId) => number): number => {
  const snapshots = new Set<SnapshotId>()
  let bytes = 0
  for (const thing of things) {
    bytes += thing.bytes
    if (thing.snapshot !== undefined) snapshots.add(thing.snapshot)
  }
  for (const snapshot of snapshots) bytes += sizeOf(snapshot)
  return bytes
}

/** The size of one of a user's items, with all the content it needs. */
export interface DiskPart extends Pick<NamedThing, "kind" | "name" | "bytes"> {
  /** Whether others of the user's items need the same content: it counts once in the total, and stays until the last of them is removed. */
  readonly shared: boolean
}

/** The items that use a user's disk space, largest first. `sizeOf`: as for `diskUse`. */
export const diskParts = (things: readonly NamedThing[], sizeOf: (snapshot: SnapshotId) => number): readonly DiskPart[] => {
  const needs = new Map<SnapshotId, number>()
  for (const { snapshot } of things) if (snapshot !== undefined) needs.set(snapshot, (needs.get(snapshot) ?? 0) + 1)
  return things
    .map(({ kind, name, bytes, snapshot }) => ({
      kind,
      name,
      bytes: bytes + (snapshot === undefined ? 0 : sizeOf(snapshot)),
      shared: snapshot !== undefined && (needs.get(snapshot) ?? 0) > 1,
    }))
    .toSorted((a, b) => b.bytes - a.bytes || (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1))
}

/** Bytes before and after a change, and the limit. */
export interface DiskChange {
  readonly user: UserId
  readonly limit: number
  readonly before: number
  readonly after: number
}

/** A change that does not increase usage is never refused, even above the limit. */
export const exceedsDisk = ({ limit, before, after }: DiskChange): boolean => after > limit && after > before

const [mib, gib] = [1024 ** 2, 1024 ** 3]
/** For display: `1.4 GiB`, `300 MiB`, rounded up. */
const shownBytes = (bytes: number): string => {
  const [unit, name] = bytes >= gib ? [gib, "GiB"] : [mib, "MiB"]
  return `${Math.ceil((bytes / unit) * 10) / 10} ${name}`
}

/** Why a change is refused, and how to proceed. */
export const diskRefusal = ({ user, limit, before, after }: DiskChange): { readonly detail: string; readonly hint: string } => ({
  detail: `it takes ${shownBytes(after - before)} more on the service's host, where ${user}'s blueprints, sources, roles, collections and templates already take ${shownBytes(before)} of ${shownBytes(limit)}`,
  hint: "Remove some of them, or ask an administrator for more (the setting user_disk).",
})

/** The change would exceed the user's disk limit on the service's host. */
export class UserDiskExceeded extends defineFault(
  "UserDiskExceeded",
  "forbidden",
  (f: { readonly doing: string } & DiskChange) => {
    const { detail, hint } = diskRefusal(f)
    return { message: `Cannot ${f.doing}: ${detail}`, hint }
  },
) {}
