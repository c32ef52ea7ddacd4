/** Finds the items in a source's tree. Uses names only, not contents. */
import { groupBy } from "../group-by.ts"
import { isBuilder } from "../library/artifact.ts"
import { roots, type SourceEntry } from "./files.ts"
import { compareNames } from "./content.ts"

export interface Layout {
  /** Path of `source.yml`, if it exists. */
  readonly manifest: string | undefined
  readonly blueprints: ReadonlyArray<BlueprintPlace>
  readonly templates: ReadonlyArray<TemplatePlace>
  readonly roles: ReadonlyArray<RolePlace>
  readonly collections: ReadonlyArray<CollectionPlace>
  /** Paths that look like items but are not read, and why. */
  readonly ignored: ReadonlyArray<{ readonly path: string; readonly reason: string }>
}
export interface BlueprintPlace {
  readonly directory: string
  readonly manifest: string
  readonly requirements: string | undefined
}
export interface TemplatePlace {
  readonly directory: string
  /** Builder files; the first one names the template. */
  readonly builders: ReadonlyArray<string>
}
export interface RolePlace {
  readonly directory: string
  readonly metadata: string | undefined
  readonly version: string | undefined
}
export interface CollectionPlace {
  readonly directory: string
  readonly metadata: string | undefined
}

const deepestBlueprint = 3

/** Paths must have been checked before. Each list is sorted by path. */
export const layOut = (entries: ReadonlyArray<SourceEntry>): Layout => {
  const files = new Set<string>()
  const ignored: Array<{ path: string; reason: string }> = []
  for (const { path, kind } of entries) {
    if (kind === "file") files.add(path)
    else if (kind === "link" && isMarker(path)) ignored.push({ path, reason: "it is a symbolic link" })
  }
  const fileAt = (path: string): string | undefined => (files.has(path) ? path : undefined)
  const builders = groupBy(
    [...files].filter((path) => path.startsWith(`${roots.templates}/`) && isBuilder(path)),
    (path) => path.slice(0, path.indexOf("/", roots.templates.length + 1)),
  )
  return {
    manifest: fileAt("source.yml"),
    blueprints: blueprintDirectories(files, ignored).map((directory) => ({
      directory,
      manifest: `${directory}/blueprint.yml`,
      requirements: fileAt(`${directory}/requirements.yml`),
    })),
    templates: itemsBelow(roots.templates, entries, ignored, (directory) => builders.has(directory)).map((directory) => ({
      directory,
      builders: (builders.get(directory) ?? []).toSorted(compareWalk),
    })),
    // a role is installed under the name of its folder, and no role's name begins with a dot
    roles: itemsBelow(roots.roles, entries, ignored, () => false).map((directory) => ({
      directory,
      metadata: fileAt(`${directory}/meta/main.yml`) ?? fileAt(`${directory}/meta/main.yaml`),
      version: fileAt(`${directory}/meta/version.yml`),
    })),
    collections: itemsBelow(roots.collections, entries, ignored, (directory) => files.has(`${directory}/galaxy.yml`)).map(
      (directory) => ({ directory, metadata: fileAt(`${directory}/galaxy.yml`) }),
    ),
    ignored,
  }
}

/** Whether the path is one at which a regular file would be read, or a directory would be an item. */
const isMarker = (path: string): boolean =>
  /^(source\.yml|templates\/[^/]+|ansible\/(roles|collections)\/[^/]+|blueprints\/.*(blueprint|requirements)\.yml)$/u.test(
    path,
  ) ||
  (isBuilder(path) && path.startsWith("templates/")) ||
  /^ansible\/(roles\/[^/]+\/meta\/(main\.ya?ml|version\.yml)|collections\/[^/]+\/galaxy\.yml)$/u.test(path)

/** Directories with a manifest, one to three levels down, but not inside another blueprint: a blueprint is a leaf. */
const blueprintDirectories = (
  files: ReadonlySet<string>,
  ignored: Array<{ path: string; reason: string }>,
): ReadonlyArray<string> => {
  const manifests = [...files].filter((path) => path.startsWith(`${roots.blueprints}/`) && path.endsWith("/blueprint.yml"))
  const found: Array<string> = []
  for (const path of manifests.toSorted(compareNames)) {
    const parts = path.split("/").slice(1, -1)
    if (parts.length === 0 || parts.some((part) => part.startsWith("."))) continue
    const outer = parts
      .slice(0, -1)
      .some((_, at) => files.has(`${roots.blueprints}/${parts.slice(0, at + 1).join("/")}/blueprint.yml`))
    if (outer) ignored.push({ path, reason: "it is inside another blueprint" })
    else if (parts.length > deepestBlueprint) ignored.push({ path, reason: `it is more than ${deepestBlueprint} levels down` })
    else found.push(path.slice(0, -"/blueprint.yml".length))
  }
  return found
}

/** The directories directly below a folder, sorted. One whose name begins with a dot counts only if it holds what makes it an item. */
const itemsBelow = (
  folder: string,
  entries: ReadonlyArray<SourceEntry>,
  ignored: Array<{ path: string; reason: string }>,
  isItem: (directory: string) => boolean,
): ReadonlyArray<string> => {
  const items = new Set<string>()
  const from = folder.length + 1
  for (const { path, kind } of entries) {
    if (!path.startsWith(`${folder}/`)) continue
    const end = path.indexOf("/", from)
    if (end === -1 && kind !== "directory") continue
    items.add(end === -1 ? path : path.slice(0, end))
  }
  const isHidden = (path: string): boolean => path.startsWith(".", from) && !isItem(path)
  for (const path of items) if (isHidden(path)) ignored.push({ path, reason: "its name begins with a dot" })
  return [...items].filter((path) => !isHidden(path)).toSorted(compareNames)
}

/** The order of a directory walk: paths compared part by part. */
const compareWalk = (a: string, b: string): number => compareNames(a.replaceAll("/", "\u0000"), b.replaceAll("/", "\u0000"))
