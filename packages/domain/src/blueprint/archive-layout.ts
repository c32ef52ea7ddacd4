import { resolveLinks } from "../content/tree-links.ts"
import { byPath, defaultTreeLimits, type TreeEntry } from "../content/tree.ts"
import { entriesBelow } from "../install/entries-below.ts"
import { foldName } from "../source/names.ts"
import type { BlueprintId } from "./origin.ts"

/** A file of a blueprint: its path in the archive, and its path in the snapshot. */
export interface BundleFile {
  readonly path: string
  readonly from: string
  readonly executable: boolean
}

/** Stops collecting beyond the maximum for an archive, because a few links can expand to very many files. */
const mostFiles = defaultTreeLimits.files + 1

/**
 * The files in a folder of a tree, sorted by path; `entries` must be sorted as well. Links are replaced with their targets, so that the
 * folder is complete without its surroundings. Dangling links are left out, as are links to folders inside linked folders, which could
 * recurse endlessly.
 */
export const bundleFiles = (entries: readonly TreeEntry[], directory: string): readonly BundleFile[] => {
  const tree = new Map(entries.map((entry) => [entry.path, entry]))
  const files: BundleFile[] = []
  const collect = (folder: string, at: string, linked: boolean): void => {
    for (const { path: name } of folder === "" ? entries : entriesBelow(entries, folder)) {
      if (files.length >= mostFiles) return
      const own = folder === "" ? name : `${folder}/${name}`
      const target = resolveLinks(own, tree)
      const found = tree.get(target ?? "")
      if (target === undefined) continue
      if (found?.kind === "file") files.push({ path: at + name, from: target, executable: found.executable })
      else if (!linked) collect(target, `${at}${name}/`, true)
    }
  }
  collect(directory, "", false)
  return files.toSorted(byPath)
}

/** The names of a blueprint's parts in its archive. */
export interface ArchiveLayout {
  /** Contains everything and gives the archive its name. */
  readonly folder: string
  readonly config: string
  readonly thumbnail: string | undefined
  /** The other files of its bundle. */
  readonly files: readonly BundleFile[]
}

export const manifestFile = "blueprint.yml"
export const requirementsFile = "requirements.yml"

/** The top folder of this blueprint's archive: its id as a single name. */
export const archiveFolder = (id: BlueprintId): string => id.replaceAll("/", "_").replaceAll("..", "_")

/** The first of `stem.ending`, `stem-2.ending`, … that does not collide with another path on any file system. */
const freeName = (stem: string, ending: string, taken: ReadonlySet<string>): string => {
  let name = `${stem}.${ending}`
  for (let n = 2; taken.has(foldName(name)); n++) name = `${stem}-${n}.${ending}`
  return name
}

/**
 * The layout of an archive. The parts stored outside the bundle (manifest, configuration, picture, requirements) replace those in the
 * bundle, whose paths are in `replaced`; configuration and picture have their default names unless another file uses them. A blueprint read
 * from such an archive gives the same layout again.
 */
export const archiveLayout = (
  id: BlueprintId,
  files: readonly BundleFile[],
  replaced: ReadonlySet<string>,
  pictureEnding: string | undefined,
): ArchiveLayout => {
  const others = files.filter(({ path }) => !replaced.has(path))
  const taken = new Set<string>()
  for (const { path } of others)
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) taken.add(foldName(path.slice(0, end)))
  return {
    folder: archiveFolder(id),
    config: freeName("range-config", "yml", taken),
    thumbnail: pictureEnding === undefined ? undefined : freeName("thumbnail", pictureEnding, taken),
    files: others,
  }
}
