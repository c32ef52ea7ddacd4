import { collectionSegments } from "@rangewright/domain"
import { type ArtifactRef, LibraryFault, type LibraryScope } from "@rangewright/ports"
import { lstat, mkdir } from "node:fs/promises"
import { join } from "node:path"

const scopeParts = (scope: LibraryScope): readonly string[] => (scope.type === "global" ? ["global"] : ["users", scope.userId])

/** The folder of one scope in the library. */
export const scopeFolder = (root: string, scope: LibraryScope): string => join(root, ...scopeParts(scope))

/** The folders of a scope's artifacts, as passed to `roles_path`, `collections_path` and packer. */
export const kindFolders = (root: string, scope: LibraryScope) => {
  const folder = scopeFolder(root, scope)
  return {
    roles: join(folder, "roles"),
    /** Ansible searches `ansible_collections` in it. */
    collections: join(folder, "collections"),
    templates: join(folder, "templates"),
  }
}

const collectionsBelow = ["collections", "ansible_collections"] as const

/** The path of an artifact with a validated name, relative to the library's folder. */
export const artifactParts = ({ scope, kind, name }: ArtifactRef): readonly string[] => {
  switch (kind) {
    case "template":
      return [...scopeParts(scope), "templates", name]
    case "role":
      return [...scopeParts(scope), "roles", name]
    case "collection":
      return [...scopeParts(scope), ...collectionsBelow, ...(collectionSegments(name) ?? [])]
  }
}

/** The folder in which Ansible looks for namespaces. */
export const namespacesFolder = (root: string, scope: LibraryScope): string => join(scopeFolder(root, scope), ...collectionsBelow)

const missing = new Set(["ENOENT", "ENOTDIR"])

/** What is at a path, without following links; undefined when nothing is there. */
export const look = (path: string) =>
  lstat(path, { bigint: true }).catch((cause: NodeJS.ErrnoException) => {
    if (missing.has(cause.code ?? "")) return undefined
    throw cause
  })

/** Whether the folder exists and no part of its path is a link, which could lead anywhere. */
export const isRealFolder = async (root: string, parts: readonly string[]): Promise<boolean> => {
  let path = root
  for (const part of parts) {
    path = join(path, part)
    if ((await look(path))?.isDirectory() !== true) return false
  }
  return true
}

/**
 * Creates the folders of a path and checks that each is a real folder, so that nothing is written through a link that somebody put there.
 */
export const makeRealFolder = async (doing: string, root: string, parts: readonly string[]): Promise<string> => {
  let path = root
  for (const part of parts) {
    path = join(path, part)
    await mkdir(path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== "EEXIST") throw cause
    })
    if ((await look(path))?.isDirectory() !== true)
      throw new LibraryFault({
        doing,
        reason: "broken",
        detail: `${JSON.stringify(part)} in the folder of installed artifacts is not a folder of its own`,
        hint: "Move what is in its place elsewhere.",
      })
  }
  return path
}
