import { collectionSegments } from "@rangewright/domain"
import { type ArtifactRef, LibraryFault, type LibraryScope } from "@rangewright/ports"
import { lstat, mkdir } from "node:fs/promises"
import { join } from "node:path"

const scopeParts = (scope: LibraryScope): readonly string[] => (scope.type === "global" ? ["global"] : ["users", scope.userId])

/** The folder of one scope, below the library's. */
export const scopeFolder = (root: string, scope: LibraryScope): string => join(root, ...scopeParts(scope))

/** Where the things of a scope are, as `roles_path`, `collections_path` and packer take them. */
export const kindFolders = (root: string, scope: LibraryScope) => {
  const folder = scopeFolder(root, scope)
  return {
    roles: join(folder, "roles"),
    /** Of this, Ansible searches `ansible_collections`. */
    collections: join(folder, "collections"),
    templates: join(folder, "templates"),
  }
}

const collectionsBelow = ["collections", "ansible_collections"] as const

/** The folders on the way to an artifact whose name was checked, from the library's own. */
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

/** The folder that Ansible looks for namespaces in. */
export const namespacesFolder = (root: string, scope: LibraryScope): string => join(scopeFolder(root, scope), ...collectionsBelow)

const missing = new Set(["ENOENT", "ENOTDIR"])

/** What is at a path, not following links; undefined: nothing. */
export const look = (path: string) =>
  lstat(path, { bigint: true }).catch((cause: NodeJS.ErrnoException) => {
    if (missing.has(cause.code ?? "")) return undefined
    throw cause
  })

/** Whether the folder is there, and every part of the way is a folder of its own: a link on the way could lead anywhere. */
export const isRealFolder = async (root: string, parts: readonly string[]): Promise<boolean> => {
  let path = root
  for (const part of parts) {
    path = join(path, part)
    if ((await look(path))?.isDirectory() !== true) return false
  }
  return true
}

/** Makes the folders on the way, and sees that each is one: nothing is written through a link that somebody put there. */
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
