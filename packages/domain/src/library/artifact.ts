/** Requirements on templates, roles and collections in the library of installed artifacts. */
import { isCollectionSegment, isRoleName, isTemplateName } from "../source/names.ts"

/** What can be installed. */
export const artifactKinds = ["template", "role", "collection"] as const
export type ArtifactKind = (typeof artifactKinds)[number]

/** The two folder names of a collection `<namespace>.<name>`; undefined if the text is not a collection name. */
export const collectionSegments = (name: string): readonly [namespace: string, name: string] | undefined => {
  const [namespace = "", own = "", ...more] = name.split(".")
  return more.length === 0 && isCollectionSegment(namespace) && isCollectionSegment(own) ? [namespace, own] : undefined
}

/** Whether the name is valid for this kind: it becomes the name of folders that are written and removed. */
export const isArtifactName = (kind: ArtifactKind, name: string): boolean => {
  switch (kind) {
    case "template":
      return isTemplateName(name)
    case "role":
      return isRoleName(name)
    case "collection":
      return collectionSegments(name) !== undefined
  }
}

/** Description of valid names per kind, for messages. */
export const allowedNames: Readonly<Record<ArtifactKind, string>> = {
  template: "letters, digits, ., _ and -, beginning with a letter or digit",
  role: "parts of letters, digits, _ and - with a . between them, not beginning with -",
  collection: "<namespace>.<name>, each of lowercase letters, digits and _, not beginning with a digit",
}

/** A role has at least one of these folders. */
export const roleFolders: ReadonlyArray<string> = [
  "tasks",
  "meta",
  "defaults",
  "handlers",
  "vars",
  "files",
  "templates",
  "library",
]

/** A folder with one of these files is a role. */
export const roleMetadataFiles = ["meta/main.yml", "meta/main.yaml"] as const
/** The metadata file of a built collection, and the one that its author writes. */
export const collectionManifestFile = "MANIFEST.json"
export const collectionMetadataFile = "galaxy.yml"

/** Whether a file is a template's builder file. */
export const isBuilder = (path: string): boolean => /pkr\.(?:hcl|json)$/u.test(path)

/** Why files with these paths are not an artifact of this kind; undefined if they are. */
export const shapeProblem = (kind: ArtifactKind, paths: ReadonlySet<string>): string | undefined => {
  switch (kind) {
    case "template": {
      const builders = [...paths].filter(isBuilder).length
      return builders === 1 ? undefined : `it has ${builders} builder files (*.pkr.hcl or *.pkr.json); a template has one`
    }
    case "role":
      return [...paths].some((path) => path.includes("/") && roleFolders.includes(path.slice(0, path.indexOf("/"))))
        ? undefined
        : `it has none of the folders that make a role: ${roleFolders.join(", ")}`
    case "collection":
      return paths.has(collectionManifestFile) || paths.has(collectionMetadataFile)
        ? undefined
        : `it has neither ${collectionManifestFile} nor ${collectionMetadataFile}`
  }
}
