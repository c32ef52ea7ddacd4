import {
  findingAt,
  checkManifestVersion,
  type Fields,
  present,
  readManifest,
  requiredText,
  textField,
  textList,
} from "./manifest.ts"
import type { MapNode } from "../range/config/node.ts"
import { type ConfigIssue, type Finding, quote, report } from "../range/config/issue.ts"
import * as Result from "effect/Result"
import { pathProblem } from "./files.ts"
import { isAnyBlueprintId } from "../blueprint/origin.ts"
import { isShippedBlueprintId } from "./names.ts"
import { parseVersion } from "./version.ts"

/** The content of a `blueprint.yml`. Paths are from the root of the source, or of the archive. */
export interface BlueprintManifest {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly version: string
  readonly tags: ReadonlyArray<string>
  readonly minLudusVersion?: string
  readonly config: string
  readonly thumbnail?: string
}

/**
 * Reads a standalone `blueprint.yml`, as in an archive with one blueprint: any valid blueprint id is accepted, any text is a version, as
 * for blueprints created here, and paths are relative to the manifest's folder. Fails with all findings.
 */
export const readBlueprintManifest = (text: string): Result.Result<BlueprintManifest, ReadonlyArray<ConfigIssue>> =>
  Result.mapError(
    Result.flatMap(readManifest(text), (root) => blueprintManifestOf(root, undefined)),
    (findings) => report(text, findings),
  )

/** The manifest of the blueprint in a directory of the source. Its id must be the path of that directory below `blueprints/`. */
export const blueprintManifestOf = (
  root: MapNode,
  directory: string | undefined,
): Result.Result<BlueprintManifest, ReadonlyArray<Finding>> => {
  const fields: Fields = { map: root, path: [], findings: [] }
  checkManifestVersion(fields)
  const id = requiredText(fields, "id")
  if (id !== "") checkId(fields, id, directory)
  const name = requiredText(fields, "name")
  const version = versionField(fields, directory !== undefined)
  const config = fileField(fields, "config", requiredText(fields, "config"), directory)
  const thumbnail = fileField(fields, "thumbnail_path", textField(fields, "thumbnail_path") ?? "", directory)
  const manifest: BlueprintManifest = {
    id,
    name,
    version,
    config: config ?? "",
    tags: textList(fields, "tags"),
    ...present({
      description: textField(fields, "description"),
      minLudusVersion: textField(fields, "min_ludus_version"),
      thumbnail,
    }),
  }
  return fields.findings.length > 0 ? Result.fail(fields.findings) : Result.succeed(manifest)
}

const versionField = (fields: Fields, shipped: boolean): string => {
  if (!shipped && fields.map.entries.has("version")) return textField(fields, "version") ?? ""
  const version = requiredText(fields, "version")
  if (shipped && version !== "" && parseVersion(version) === undefined)
    fields.findings.push(
      findingAt(
        fields,
        "version",
        "bad-version",
        `${quote(version)} is not a valid version`,
        "one to three numbers joined by dots, as in 1.2.0",
      ),
    )
  return version
}

const checkId = (fields: Fields, id: string, directory: string | undefined): void => {
  const expected = directory?.slice("blueprints/".length)
  const allowed = directory === undefined ? isAnyBlueprintId(id) : isShippedBlueprintId(id)
  if (!allowed)
    fields.findings.push(
      findingAt(
        fields,
        "id",
        "bad-id",
        `${quote(id)} is not a valid blueprint ID`,
        "up to three parts joined by /, of letters, digits, _ and -, beginning with a letter",
      ),
    )
  else if (expected !== undefined && id !== expected)
    fields.findings.push(
      findingAt(
        fields,
        "id",
        "id-is-not-path",
        `the id ${quote(id)} differs from the directory, ${quote(expected)}`,
        quote(expected),
      ),
    )
}

/** The path of a file inside the blueprint's directory, normalized and from the root; undefined if none is named or the path is unsafe. */
const fileField = (fields: Fields, key: string, text: string, directory: string | undefined): string | undefined => {
  if (text === "") return undefined
  const relative = normalise(text)
  if (relative !== undefined && pathProblem(relative) === undefined)
    return directory === undefined ? relative : `${directory}/${relative}`
  fields.findings.push(
    findingAt(
      fields,
      key,
      "unsafe-path",
      `${quote(text)} does not name a file of the blueprint`,
      "a relative path that stays in the directory",
    ),
  )
  return undefined
}

/** Removes `.`, empty parts and resolvable `..`; undefined if the path is absolute, empty, or leads upwards. */
const normalise = (path: string): string | undefined => {
  if (path.startsWith("/")) return undefined
  const parts: Array<string> = []
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue
    if (part !== "..") parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.length === 0 ? undefined : parts.join("/")
}
