import { collectionSegments, isArtifactName } from "@rangewright/domain"
import type { ArtifactRef, LibraryScope } from "@rangewright/ports"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { kindFolders, look, namespacesFolder } from "./layout.ts"

/** A folder with the location and name of an artifact. */
export interface ArtifactFolder extends Pick<ArtifactRef, "kind" | "name"> {
  readonly folder: string
}

const namesOfFolders = async (folder: string): Promise<readonly string[]> => {
  if ((await look(folder))?.isDirectory() !== true) return []
  return (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** All artifact folders of a scope, in no particular order. */
export const artifactFolders = async (root: string, scope: LibraryScope): Promise<readonly ArtifactFolder[]> => {
  const { roles, templates } = kindFolders(root, scope)
  const named = async (kind: "role" | "template", parent: string): Promise<readonly ArtifactFolder[]> =>
    (await namesOfFolders(parent))
      .filter((name) => isArtifactName(kind, name))
      .map((name) => ({ kind, name, folder: join(parent, name) }))
  const namespaces = namespacesFolder(root, scope)
  const collectionsOf = async (namespace: string): Promise<readonly ArtifactFolder[]> =>
    (await namesOfFolders(join(namespaces, namespace)))
      .map((name) => ({
        kind: "collection" as const,
        name: `${namespace}.${name}`,
        folder: join(namespaces, namespace, name),
      }))
      .filter(({ name }) => collectionSegments(name) !== undefined)
  const collections = await Promise.all((await namesOfFolders(namespaces)).map(collectionsOf))
  return [...(await named("template", templates)), ...(await named("role", roles)), ...collections.flat()]
}
