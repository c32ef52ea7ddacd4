import { type Fields, lineField, textField } from "./manifest.ts"
import type { MapNode } from "../range/config/node.ts"
import { isRoleName } from "./names.ts"

/** What the metadata of a role say. */
export interface RoleMetadata {
  /** `<namespace>.<role>`, or the name of the directory where the metadata give no other. */
  readonly name: string
  readonly description: string | undefined
}

const part = /^[A-Za-z0-9_-]+$/u

/**
 * Reads a role's `meta/main.yml`: the namespace is `galaxy_info.namespace`, else the author; the name is
 * `galaxy_info.role_name`, else the directory's. Where either could not be a name, the role is called as its directory.
 */
export const readRoleMetadata = (root: MapNode, directory: string): RoleMetadata => {
  const info = root.entries.get("galaxy_info")?.value
  if (info?.kind !== "map") return { name: directory, description: undefined }
  // Metadata are written for other programs: what is odd in them is not ours to tell.
  const fields: Fields = { map: info, path: ["galaxy_info"], findings: [] }
  const namespace = textField(fields, "namespace") ?? textField(fields, "author") ?? ""
  const role = textField(fields, "role_name") ?? directory
  const name = `${namespace}.${role}`
  return {
    name: part.test(namespace) && part.test(role) && isRoleName(name) ? name : directory,
    description: textField(fields, "description"),
  }
}

/** The version of a role: what its `meta/version.yml` says, else the tag of its submodule without a leading `v`. */
export const roleVersion = (versionFile: MapNode | undefined, tag: string | undefined): string | undefined =>
  (versionFile === undefined ? undefined : lineField({ map: versionFile, path: [], findings: [] }, "version")) ??
  (tag?.replace(/^v/u, "") || undefined)
