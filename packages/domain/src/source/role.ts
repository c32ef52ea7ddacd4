import { type Fields, lineField, textField } from "./manifest.ts"
import type { MapNode } from "../range/config/node.ts"
import { isRoleName } from "./names.ts"

/** The metadata of a role. */
export interface RoleMetadata {
  /** `<namespace>.<role>`, or the directory name if the metadata give no valid name. */
  readonly name: string
  readonly description: string | undefined
}

const part = /^[A-Za-z0-9_-]+$/u

/**
 * Reads a role's `meta/main.yml`: the namespace is `galaxy_info.namespace`, else the author; the name is `galaxy_info.role_name`, else the
 * directory's. If either is not a valid name, the role has the name of its directory.
 */
export const readRoleMetadata = (root: MapNode, directory: string): RoleMetadata => {
  const info = root.entries.get("galaxy_info")?.value
  if (info?.kind !== "map") return { name: directory, description: undefined }
  // metadata are written for other programs, so problems in them are not reported here
  const fields: Fields = { map: info, path: ["galaxy_info"], findings: [] }
  const namespace = textField(fields, "namespace") ?? textField(fields, "author") ?? ""
  const role = textField(fields, "role_name") ?? directory
  const name = `${namespace}.${role}`
  return {
    name: part.test(namespace) && part.test(role) && isRoleName(name) ? name : directory,
    description: textField(fields, "description"),
  }
}

/** The version of a role: from its `meta/version.yml`, else the tag of its submodule without a leading `v`. */
export const roleVersion = (versionFile: MapNode | undefined, tag: string | undefined): string | undefined =>
  (versionFile === undefined ? undefined : lineField({ map: versionFile, path: [], findings: [] }, "version")) ??
  (tag?.replace(/^v/u, "") || undefined)
