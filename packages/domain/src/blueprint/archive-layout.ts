import { resolveLinks } from "../content/tree-links.ts"
import { byPath, defaultTreeLimits, type TreeEntry } from "../content/tree.ts"
import { entriesBelow } from "../install/entries-below.ts"
import { foldName } from "../source/names.ts"
import type { BlueprintId } from "./origin.ts"

/** A file of a blueprint: where it lies in the archive, and which file of the snapshot it is. */
export interface BundleFile {
  readonly path: string
  readonly from: string
  readonly executable: boolean
}

/** More files than any archive may have are not looked for: a few links can mean very many. */
const mostFiles = defaultTreeLimits.files + 1

/**
 * The files of a folder of a tree, sorted by path; `entries` must be, too. Links travel as what they lead to, so that a folder is whole
 * without what surrounds it: those that lead nowhere are left out, and links to folders inside linked folders too, which could go on
 * for ever.
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

/** The names that the parts of a blueprint have in an archive of it. */
export interface ArchiveLayout {
  /** Holds everything, and gives the archive its name. */
  readonly folder: string
  readonly config: string
  readonly thumbnail: string | undefined
  /** The other files of its bundle. */
  readonly files: readonly BundleFile[]
}

export const manifestFile = "blueprint.yml"
export const requirementsFile = "requirements.yml"

/** The folder of an archive of this blueprint: its id as one name. */
export const archiveFolder = (id: BlueprintId): string => id.replaceAll("/", "_").replaceAll("..", "_")

/** The first of `stem.ending`, `stem-2.ending`, … that is no other path on any file system. */
const freeName = (stem: string, ending: string, taken: ReadonlySet<string>): string => {
  let name = `${stem}.${ending}`
  for (let n = 2; taken.has(foldName(name)); n++) name = `${stem}-${n}.${ending}`
  return name
}

/**
 * Where everything goes in an archive. What is kept beside the bundle (manifest, configuration, picture, requirements) takes the place of
 * the bundle's own, `replaced` by path; configuration and picture have their usual names unless another file has them. An archive of what
 * was read from an archive is laid out as that one.
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
