import type { UserId } from "../access/ids.ts"
import type { Picture } from "../blueprint/picture.ts"
import { utf8Length } from "../content/utf8.ts"
import type { SnapshotId } from "../content/snapshot-id.ts"
import { defineFault } from "../fault/fault.ts"
import type { ArtifactKind } from "../library/artifact.ts"

/** Something that a user keeps on the service's host: a blueprint, a source, or what is installed. */
export interface KeptThing {
  readonly bytes: number
  /** Content that it needs. It counts once, however many of the user's things need it. */
  readonly snapshot?: SnapshotId | undefined
}

/** The same, as people know it. */
export interface NamedThing extends KeptThing {
  readonly kind: "blueprint" | "source" | ArtifactKind
  readonly name: string
}

/** No less than the texts that say what a blueprint is, or what opens a source. */
const rowBytes = 40 * 1024

/** A source or blueprint: its row is not for nothing, and `bytes` come with it. */
export const keptRow = (bytes: number, snapshot: SnapshotId | undefined): KeptThing => ({ bytes: rowBytes + bytes, snapshot })

/** What a blueprint takes beside its row and the content that holds its files. */
export const blueprintBytes = (of: {
  readonly config: string
  readonly requirements: string | undefined
  readonly picture: Picture | undefined
}): number => utf8Length(of.config) + utf8Length(of.requirements ?? "") + (of.picture?.bytes.length ?? 0)

/** What things of one user take together. `sizeOf`: bytes of content; what is not on this host takes nothing. */
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

/** What one thing of a user's takes, with all the content that it needs. */
export interface DiskPart extends Pick<NamedThing, "kind" | "name" | "bytes"> {
  /** Others of the user's things need the same content: it counts once in what they take together, and stays until the last of them goes. */
  readonly shared: boolean
}

/** What takes a user's part of the disk, the largest first. `sizeOf`: as for `diskUse`. */
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

/** Bytes before and after a change, and the most that are allowed. */
export interface DiskChange {
  readonly user: UserId
  readonly limit: number
  readonly before: number
  readonly after: number
}

/** What takes no more than before is never refused, also where a limit is lower by now. */
export const exceedsDisk = ({ limit, before, after }: DiskChange): boolean => after > limit && after > before

const [mib, gib] = [1024 ** 2, 1024 ** 3]
/** For people: `1.4 GiB`, `300 MiB`, and never less than there is. */
const shownBytes = (bytes: number): string => {
  const [unit, name] = bytes >= gib ? [gib, "GiB"] : [mib, "MiB"]
  return `${Math.ceil((bytes / unit) * 10) / 10} ${name}`
}

/** Why a change is refused, and the way out. */
export const diskRefusal = ({ user, limit, before, after }: DiskChange): { readonly detail: string; readonly hint: string } => ({
  detail: `it takes ${shownBytes(after - before)} more on the service's host, where ${user}'s blueprints, sources, roles, collections and templates already take ${shownBytes(before)} of ${shownBytes(limit)}`,
  hint: "Remove some of them, or ask an administrator for more (the setting user_disk).",
})

/** A user may not keep that much on the service's host. */
export class UserDiskExceeded extends defineFault(
  "UserDiskExceeded",
  "forbidden",
  (f: { readonly doing: string } & DiskChange) => {
    const { detail, hint } = diskRefusal(f)
    return { message: `Cannot ${f.doing}: ${detail}`, hint }
  },
) {}
