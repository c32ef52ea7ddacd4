/** Reads the declared dependencies of roles and collections. */
import * as Result from "effect/Result"
import type { MapNode, Node } from "../range/config/node.ts"
import { readYaml } from "../range/config/read-yaml.ts"
import type { RoleRequirement } from "../source/content.ts"
import { present, readManifest, textField } from "../source/manifest.ts"
import { readRequirements } from "../source/requirements.ts"
import { type ArtifactKind, collectionManifestFile, collectionMetadataFile, roleMetadataFiles } from "./artifact.ts"
import { readCollectionManifest, readCollectionSource } from "./receipt.ts"
import type { Dependencies } from "./requirement.ts"

const roleRequirementsFiles = ["meta/requirements.yml", "meta/requirements.yaml"] as const

/** The files that may declare an artifact's dependencies. */
export const needsFiles: Readonly<Record<ArtifactKind, ReadonlyArray<string>>> = {
  template: [],
  role: [...roleMetadataFiles, ...roleRequirementsFiles],
  collection: [collectionManifestFile, collectionMetadataFile],
}

/** The dependencies declared in an artifact's files. Files that cannot be parsed declare none. */
export const readNeeds = (kind: ArtifactKind, textOf: (path: string) => string | undefined): Dependencies => {
  const texts = (paths: ReadonlyArray<string>) => paths.flatMap((path) => textOf(path) ?? [])
  if (kind === "role") {
    const listed = texts(roleRequirementsFiles).map(inRoleRequirements)
    return {
      roles: [...texts(roleMetadataFiles).flatMap(rolesInMetadata), ...listed.flatMap(({ roles }) => roles)],
      collections: listed.flatMap(({ collections }) => collections),
    }
  }
  const manifest = textOf(collectionManifestFile)
  const source = textOf(collectionMetadataFile)
  const identity =
    manifest === undefined ? (source === undefined ? undefined : readCollectionSource(source)) : readCollectionManifest(manifest)
  return {
    roles: [],
    collections: [...(identity?.dependencies ?? [])].map(([name, version]) => ({
      name,
      ...(version === "*" ? {} : { version }),
    })),
  }
}

/** The `dependencies` of a role's metadata: names, or mappings with `role`, `name` or `src`. */
const rolesInMetadata = (text: string): ReadonlyArray<RoleRequirement> => {
  const read = readManifest(text)
  const list = Result.isSuccess(read) ? read.success.entries.get("dependencies")?.value : undefined
  return list?.kind === "list" ? list.items.flatMap((item) => dependency(item) ?? []) : []
}

/** The requirements file of a role: a list of roles, as Ansible's tool takes it, or lists by kind, as in a blueprint's. */
const inRoleRequirements = (text: string): Dependencies => {
  const read = readYaml(text, [])
  return Result.isSuccess(read) && read.success.kind === "list"
    ? { roles: read.success.items.flatMap((item) => dependency(item) ?? []), collections: [] }
    : readRequirements(text).requirements
}

const dependency = (node: Node): RoleRequirement | undefined => {
  if (node.kind === "scalar") return node.source === "" ? undefined : { name: node.source }
  return node.kind === "map" ? dependencyIn(node) : undefined
}

const dependencyIn = (map: MapNode): RoleRequirement | undefined => {
  const field = (key: string) => textField({ map, path: [], findings: [] }, key)
  const requirement = { name: field("role") ?? field("name"), src: field("src"), version: field("version"), scm: field("scm") }
  return requirement.name === undefined && requirement.src === undefined ? undefined : present(requirement)
}
