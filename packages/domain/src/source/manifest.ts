/** Common functions for reading YAML manifests: text is kept as written, unknown keys are ignored, errors are reported. */
import * as Result from "effect/Result"
import { type Finding, quote } from "../range/config/issue.ts"
import { emptyMap, type MapNode, type Node, type Path } from "../range/config/node.ts"
import { readYaml } from "../range/config/read-yaml.ts"
import { isShownLine, isShownText } from "./shown-text.ts"

/**
 * Parses the mapping in a manifest, under the same limits as range configurations. A duplicate key is an error, because parsers disagree on
 * which value counts. A text without a value is an empty mapping.
 */
export const readManifest = (text: string): Result.Result<MapNode, ReadonlyArray<Finding>> => {
  const warnings: Array<Finding> = []
  const read = readYaml(text, warnings)
  if (Result.isFailure(read)) return read.failure[0]?.code === "empty" ? Result.succeed(emptyMap) : Result.fail(read.failure)
  const repeated = warnings
    .filter(({ code }) => code === "repeated-key")
    .map((finding): Finding => ({ ...finding, message: "the key is given twice", severity: "error" }))
  if (repeated.length > 0) return Result.fail(repeated)
  const root = read.success
  if (root.kind === "map") return Result.succeed(root)
  return isNull(root) ? Result.succeed(emptyMap) : Result.fail([wrongType([], root, "an object")])
}

/** A mapping being read, with its findings. */
export interface Fields {
  readonly map: MapNode
  readonly path: Path
  readonly findings: Array<Finding>
}

/** The text under a key as written, so that `1.10` stays `1.10`; undefined if it is absent, null or empty. */
export const textField = ({ map, path, findings }: Fields, key: string): string | undefined => {
  const node = map.entries.get(key)?.value
  if (node === undefined || isNull(node)) return undefined
  const at = [...path, key]
  if (node.kind !== "scalar") findings.push(wrongType(at, node, "text"))
  else if (!isShownText(node.source)) findings.push(notShown(at, node))
  else return node.source === "" ? undefined : node.source
  return undefined
}

/** Like `textField`, for a single line; undefined if it has more. */
export const lineField = (fields: Fields, key: string): string | undefined => {
  const text = textField(fields, key)
  return text === undefined || isShownLine(text) ? text : undefined
}

/** Like `textField`, but reports a missing or blank value and returns an empty text, so that reading continues. */
export const requiredText = (fields: Fields, key: string): string => {
  const before = fields.findings.length
  const text = textField(fields, key)
  if (text !== undefined && text.trim() !== "") return text
  if (fields.findings.length === before)
    fields.findings.push({
      path: fields.path,
      offset: fields.map.entries.get(key)?.keyStart ?? fields.map.start,
      code: "missing-key",
      message: `the key ${quote(key)} is missing or empty`,
      allowed: "text",
    })
  return ""
}

/** The texts of a list under a key; empty if it is absent or null. */
export const textList = (fields: Fields, key: string): ReadonlyArray<string> =>
  listField(fields, key).flatMap((node, index) => {
    const at = [...fields.path, key, index]
    if (node.kind !== "scalar") fields.findings.push(wrongType(at, node, "text"))
    else if (!isShownText(node.source)) fields.findings.push(notShown(at, node))
    else return isNull(node) ? [] : [node.source]
    return []
  })

/** The elements of a list under a key; empty if it is absent or null. */
export const listField = ({ map, path, findings }: Fields, key: string): ReadonlyArray<Node> => {
  const node = map.entries.get(key)?.value
  if (node === undefined || isNull(node)) return []
  if (node.kind === "list") return node.items
  findings.push(wrongType([...path, key], node, "a list"))
  return []
}

/** The only manifest version is 1; 0 and absent mean 1. */
export const checkManifestVersion = ({ map, path, findings }: Fields): void => {
  const node = map.entries.get("manifest_version")?.value
  if (node === undefined || isNull(node) || (node.kind === "scalar" && (node.value === 0 || node.value === 1))) return
  findings.push({
    path: [...path, "manifest_version"],
    offset: node.start,
    code: "manifest-version",
    message: "this version of manifests cannot be read",
    allowed: "1",
  })
}

/** A finding about the value under a key, or about the mapping if the key is absent. */
export const findingAt = ({ map, path }: Fields, key: string, code: string, message: string, allowed: string): Finding => ({
  path: [...path, key],
  offset: map.entries.get(key)?.value.start ?? map.start,
  code,
  message,
  allowed,
})

export const wrongType = (path: Path, node: Node, allowed: string): Finding => ({
  path,
  offset: node.start,
  code: "wrong-type",
  message: `is ${{ scalar: "a single value", list: "a list", map: "an object" }[node.kind]}`,
  allowed,
})

const notShown = (path: Path, node: Node): Finding => ({
  path,
  offset: node.start,
  code: "control-character",
  message: "contains a control character",
  allowed: "printable text",
})

/** Keeps the keys that have a value: missing manifest fields are absent, not undefined. */
export const present = <T extends Readonly<Record<string, string | undefined>>>(
  texts: T,
): { readonly [K in keyof T]?: Exclude<T[K], undefined> } =>
  // entries without undefined match the partial type exactly
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)) as {
    readonly [K in keyof T]?: Exclude<T[K], undefined>
  }

const isNull = (node: Node): boolean => node.kind === "scalar" && node.value === null && node.plain
