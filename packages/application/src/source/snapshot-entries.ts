import { entriesBelow, resolveLinks, type TreeEntry } from "@rangewright/domain"
import { type ArtifactEntry, ContentFault, ContentFetcher, type Snapshot } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/**
 * A folder of a snapshot, ready to be installed elsewhere. Links that stay inside the folder stay links. A link to a file of the source
 * outside the folder becomes a copy of that file, since the link would be broken in its new place; a link to a folder outside, or to
 * nothing, is refused.
 */
export const snapshotEntries = (
  snapshot: Snapshot,
  directory: string,
): Effect.Effect<readonly ArtifactEntry[], ContentFault, ContentFetcher> =>
  Effect.gen(function* () {
    const { read } = yield* ContentFetcher
    const below = entriesBelow(snapshot.files, directory)
    const inside = byPathOf(below)
    let everywhere: ReadonlyMap<string, TreeEntry> | undefined
    const entries: ArtifactEntry[] = []
    const fileAt = (path: string, entry: TreeEntry & { readonly kind: "file" }, from: string): ArtifactEntry => ({
      ...entry,
      path,
      read: Effect.suspend(() => read(snapshot.id, from, entry.size)),
    })
    for (const entry of below) {
      if (entry.kind === "file") entries.push(fileAt(entry.path, entry, `${directory}/${entry.path}`))
      else if (resolveLinks(entry.path, inside) !== undefined) entries.push(entry)
      else {
        everywhere ??= byPathOf(snapshot.files)
        const target = everywhere.get(resolveLinks(`${directory}/${entry.path}`, everywhere) ?? "")
        if (target?.kind !== "file") return yield* leadsOut(directory, entry.path)
        entries.push(fileAt(entry.path, target, target.path))
      }
    }
    return entries
  })

const byPathOf = (entries: readonly TreeEntry[]): ReadonlyMap<string, TreeEntry> =>
  new Map(entries.map((entry) => [entry.path, entry]))

const leadsOut = (directory: string, path: string): Effect.Effect<never, ContentFault> =>
  Effect.fail(
    new ContentFault({
      doing: `install from ${directory}`,
      reason: "refused",
      rule: "link",
      item: `${directory}/${path}`,
      detail: "it is a link to something outside the folder that is not a file of the source",
    }),
  )
