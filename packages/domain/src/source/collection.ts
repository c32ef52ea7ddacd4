import * as Result from "effect/Result"
import type { Finding } from "../range/config/issue.ts"
import { quote } from "../range/config/issue.ts"
import type { MapNode } from "../range/config/node.ts"
import { type Fields, findingAt, lineField, requiredText, textField } from "./manifest.ts"
import { isCollectionSegment } from "./names.ts"

/** The metadata in a collection's `galaxy.yml`. */
export interface CollectionMetadata {
  /** `<namespace>.<name>`. */
  readonly name: string
  readonly description: string | undefined
  readonly version: string | undefined
}

/** Reads a `galaxy.yml`. Namespace and name are required and must be usable as folder names. */
export const readCollectionMetadata = (root: MapNode): Result.Result<CollectionMetadata, ReadonlyArray<Finding>> => {
  const fields: Fields = { map: root, path: [], findings: [] }
  const [namespace, name] = [segment(fields, "namespace"), segment(fields, "name")]
  const required = fields.findings.length
  const metadata = {
    name: `${namespace}.${name}`,
    description: textField(fields, "description"),
    version: lineField(fields, "version"),
  }
  return required > 0 ? Result.fail(fields.findings.slice(0, required)) : Result.succeed(metadata)
}

const segment = (fields: Fields, key: string): string => {
  const text = requiredText(fields, key)
  if (text !== "" && !isCollectionSegment(text))
    fields.findings.push(
      findingAt(
        fields,
        key,
        "unsafe-name",
        `${quote(text)} cannot be part of a collection's name`,
        "lowercase letters, digits and _, not beginning with a digit",
      ),
    )
  return text
}
