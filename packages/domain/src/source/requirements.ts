import * as Result from "effect/Result"
import { type Finding, quote } from "../range/config/issue.ts"
import type { MapNode, Node, Path } from "../range/config/node.ts"
import type { CollectionRequirement, Requirements, RoleRequirement } from "./content.ts"
import { type Fields, listField, present, readManifest, textField, wrongType } from "./manifest.ts"

/** The requirements of a blueprint without a requirements file. */
export const noRequirements: Requirements = { roles: [], collections: [], subscriptionRoles: [] }

/**
 * Reads a `requirements.yml`: three optional lists whose entries are mappings or bare names. A malformed file requires nothing, and its
 * findings are warnings for the author. `unsafe` findings are reasons to refuse the blueprint: text that a program would take for an
 * option.
 */
export const readRequirements = (
  text: string,
): {
  readonly requirements: Requirements
  readonly warnings: ReadonlyArray<Finding>
  readonly unsafe: ReadonlyArray<Finding>
} => {
  const root = readManifest(text)
  if (Result.isFailure(root)) return { requirements: noRequirements, warnings: root.failure, unsafe: [] }
  const reading: Reading = { root: root.success, warnings: [], unsafe: [] }
  const requirements: Requirements = {
    roles: entries(reading, "roles", (fields): RoleRequirement =>
      present(fieldsOf(reading, fields, ["name", "src", "version", "scm"])),
    ),
    collections: entries(reading, "collections", (fields): CollectionRequirement =>
      present(fieldsOf(reading, fields, ["name", "version", "source", "type"])),
    ),
    subscriptionRoles: entries(reading, "subscription_roles", (fields) => fieldsOf(reading, fields, ["name"]).name).filter(
      (name) => name !== undefined,
    ),
  }
  const { warnings, unsafe } = reading
  return warnings.length > 0 ? { requirements: noRequirements, warnings, unsafe } : { requirements, warnings, unsafe }
}

interface Reading {
  readonly root: MapNode
  readonly warnings: Array<Finding>
  readonly unsafe: Array<Finding>
}

const entries = <A>(reading: Reading, key: string, read: (fields: Fields) => A): ReadonlyArray<A> =>
  listField({ map: reading.root, path: [], findings: reading.warnings }, key).flatMap((node, index) => {
    const map = entryOf(node)
    if (map !== undefined) return [read({ map, path: [key, index], findings: reading.warnings })]
    reading.warnings.push(wrongType([key, index], node, "a name, or an object with the key `name`"))
    return []
  })

/** A bare name means an object with that name. */
const entryOf = (node: Node): MapNode | undefined => {
  if (node.kind === "map") return node
  if (node.kind === "list" || node.value === null) return undefined
  return { ...node, kind: "map", entries: new Map([["name", { keyStart: node.start, value: node }]]) }
}

const fieldsOf = <const K extends string>(
  reading: Reading,
  fields: Fields,
  keys: ReadonlyArray<K>,
): { readonly [N in K]: string | undefined } => {
  const texts = keys.map((key) => {
    const text = textField(fields, key)
    if (text !== undefined) checkArgument(reading, text, [...fields.path, key], fields.map.entries.get(key)?.value.start ?? 0)
    return [key, text] as const
  })
  // one text per key
  return Object.fromEntries(texts) as { readonly [N in K]: string | undefined }
}

// oxlint-disable-next-line no-control-regex
const unsafeArgument = /^-|[\u0000-\u001F\u007F]/u

const checkArgument = (reading: Reading, text: string, path: Path, offset: number): void => {
  if (!unsafeArgument.test(text)) return
  const message = `${quote(text)} begins with a hyphen or contains a control character`
  reading.unsafe.push({ path, offset, code: "unsafe-argument", message, allowed: "text that cannot be mistaken for an option" })
}
