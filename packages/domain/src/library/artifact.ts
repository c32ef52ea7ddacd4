/** What templates, roles and collections must be so that they can lie in the library of installed artifacts. */
import { isCollectionSegment, isRoleName, isTemplateName } from "../source/names.ts"

/** What can be installed. */
export const artifactKinds = ["template", "role", "collection"] as const
export type ArtifactKind = (typeof artifactKinds)[number]

/** The two folders that a collection `<namespace>.<name>` lies in; undefined where the text names none. */
export const collectionSegments = (name: string): readonly [namespace: string, name: string] | undefined => {
  const [namespace = "", own = "", ...more] = name.split(".")
  return more.length === 0 && isCollectionSegment(namespace) && isCollectionSegment(own) ? [namespace, own] : undefined
}

/** Whether a thing of this kind may be called so: its name becomes that of folders that are written and removed. */
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

/** What names of the kind are made of, for people. */
export const allowedNames: Readonly<Record<ArtifactKind, string>> = {
  template: "letters, digits, ., _ and -, first a letter or digit",
  role: "parts of letters, digits, _ and - with a . between them, not beginning with -",
  collection: "<namespace>.<name>, each of small letters, digits and _, not beginning with a digit",
}

/** Of these folders a role has at least one. */
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

/** The files of which one tells that a folder is a role. */
export const roleMetadataFiles = ["meta/main.yml", "meta/main.yaml"] as const
/** What a built collection says of itself, and what its author wrote. */
export const collectionManifestFile = "MANIFEST.json"
export const collectionMetadataFile = "galaxy.yml"

/** Whether a file tells how a template is built. */
export const isBuilder = (path: string): boolean => /pkr\.(?:hcl|json)$/u.test(path)

/** Why files of these paths are no such thing; undefined where they are. */
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
