/** Checks a file's values against the declaration and returns the typed value, or everything that is wrong. */
import * as Result from "effect/Result"
import { type Finding, quote } from "./issue.ts"
import type { Json } from "../../plan/action.ts"
import { emptyMap, type MapNode, type Node, type Path, toJson } from "./node.ts"
import { similar } from "./similar.ts"
import type { Infer, Key, NumberShape, ObjectShape, Of, Shape, TextShape } from "./shape.ts"

/** The typed value of the shape; keys with a default are filled in where the object that contains them is present. */
export const decode = <A>(shape: Of<A>, node: Node): Result.Result<A, ReadonlyArray<Finding>> => {
  const findings: Array<Finding> = []
  const value = read(findings, shape, node, [])
  // The declaration is the type: `read` returned a value of exactly this shape.
  return findings.length > 0 ? Result.fail(findings) : Result.succeed(value as A)
}

/** The value of an object that the file does not mention. Only for shapes without required keys. */
export const absent = <S extends ObjectShape>(shape: S): Infer<S> => read([], shape, emptyMap, []) as Infer<S>

/** A file that is wrong everywhere has thousands of findings, and few are shown: beyond this number they are only counted. */
const mostTold = 200
const untold: Finding = { path: [], offset: Number.POSITIVE_INFINITY, code: "untold", message: "" }
const add = (findings: Array<Finding>, tell: () => Finding): void =>
  void findings.push(findings.length < mostTold ? tell() : untold)

const read = (findings: Array<Finding>, shape: Shape, node: Node, path: Path): Json | undefined => {
  switch (shape.kind) {
    case "any":
      return toJson(node)
    case "flag":
      if (node.kind === "scalar" && typeof node.value === "boolean") return node.value
      break
    case "text":
      if (node.kind === "scalar" && typeof node.value === "string") return readText(findings, shape, node.value, node, path)
      break
    case "number":
      if (node.kind === "scalar" && typeof node.value === "number") return readNumber(findings, shape, node.value, node, path)
      break
    case "list":
      if (node.kind === "list")
        return node.items.map((item, index) => read(findings, shape.items, item, [...path, index]) ?? null)
      break
    case "object":
      if (node.kind === "map") return readObject(findings, shape, node, path)
      break
    case "either": {
      const fitting = shape.options.find((option) => accepts(option, node))
      if (fitting !== undefined) return read(findings, fitting, node, path)
      break
    }
  }
  add(findings, () => wrongType(shape, node, path))
  return undefined
}

const accepts = (shape: Shape, node: Node): boolean => {
  const type = node.kind === "scalar" ? typeof node.value : node.kind
  return (
    type === { text: "string", number: "number", flag: "boolean", list: "list", object: "map", any: type, either: "" }[shape.kind]
  )
}

const readObject = (findings: Array<Finding>, shape: ObjectShape, node: MapNode, path: Path): Json => {
  const value: Array<[string, Json]> = []
  for (const name in shape.keys) {
    const key = shape.keys[name]
    if (key === undefined) continue
    const entry = node.entries.get(name)
    if (entry === undefined) {
      if (key.presence === "required") add(findings, () => missing(name, key, node, path))
      if (key.fallback !== undefined) value.push([name, key.fallback])
      continue
    }
    const given = read(findings, key.shape, entry.value, [...path, name])
    if (given !== undefined) value.push([name, given])
  }
  for (const [name, entry] of node.entries) {
    if (Object.hasOwn(shape.keys, name)) continue
    if (shape.open) value.push([name, toJson(entry.value)])
    else add(findings, () => unknownKey(shape, name, entry.keyStart, path))
  }
  for (const constraint of shape.constraints) {
    const violation = constraint.check(node)
    if (violation === undefined) continue
    const { key = [], ...rest } = violation
    add(findings, () => ({ ...rest, path: [...path, ...key], offset: keyOffset(node, key) }))
  }
  return Object.fromEntries(value)
}

const keyOffset = (node: MapNode, keys: ReadonlyArray<string>): number => {
  let offset = node.start
  let around: Node | undefined = node
  for (const key of keys) {
    const entry: { keyStart: number; value: Node } | undefined = around?.kind === "map" ? around.entries.get(key) : undefined
    offset = entry?.keyStart ?? offset
    around = entry?.value
  }
  return offset
}

const readText = (findings: Array<Finding>, shape: TextShape, value: string, node: Node, path: Path): string => {
  const fits =
    (shape.oneOf === undefined || shape.oneOf.includes(value)) &&
    (shape.maxLength === undefined || value.length <= shape.maxLength) &&
    (shape.pattern === undefined || shape.pattern.expression.test(value))
  if (!fits) add(findings, () => refused(shape, "not-allowed", `${quote(value)} is not allowed`, node, path))
  return value
}

const readNumber = (findings: Array<Finding>, shape: NumberShape, value: number, node: Node, path: Path): number => {
  if (shape.whole && !Number.isInteger(value))
    add(findings, () => refused(shape, "not-whole", `${value} is not a whole number`, node, path))
  else if ((shape.min !== undefined && value < shape.min) || (shape.max !== undefined && value > shape.max))
    add(findings, () => refused(shape, "out-of-range", `${value} is out of range`, node, path))
  else if (shape.oneOf !== undefined && !shape.oneOf.includes(value))
    add(findings, () => refused(shape, "not-allowed", `${value} is not allowed`, node, path))
  return value
}

const refused = (shape: Shape, code: string, message: string, node: Node, path: Path): Finding => ({
  path,
  offset: node.start,
  code,
  message,
  allowed: describe(shape),
})

const wrongType = (shape: Shape, node: Node, path: Path): Finding => {
  const wantsText = shape.kind === "text" || (shape.kind === "either" && shape.options.some((option) => option.kind === "text"))
  const hint = wantsText && node.kind === "scalar" && node.value !== null ? "; quote it if text is meant" : ""
  const finding = refused(shape, "wrong-type", `is ${nounOf(node, isSecret(shape))}`, node, path)
  return { ...finding, allowed: `${finding.allowed}${hint}` }
}
const isSecret = (shape: Shape): boolean => shape.kind === "text" && shape.secret === true

const nounOf = (node: Node, secret: boolean): string => {
  if (node.kind === "list") return "a list"
  if (node.kind === "map") return "an object"
  if (node.value === null) return "null"
  const noun = { string: "text", number: "a number", boolean: "a boolean" }[typeof node.value as "string" | "number" | "boolean"]
  return secret ? noun : `${noun} (${quote(node.source)})`
}

const missing = (name: string, key: Key, node: MapNode, path: Path): Finding => ({
  path,
  offset: node.start,
  code: "missing-key",
  message: `the key ${quote(name)} is missing`,
  allowed: describe(key.shape),
})

const unknownKey = (shape: ObjectShape, name: string, offset: number, path: Path): Finding => {
  const near = similar(name, Object.keys(shape.keys))
  return {
    path: [...path, name],
    offset,
    code: "unknown-key",
    message: `the key ${quote(name)} is not known here${near === undefined ? "" : `; did you mean ${quote(near)}?`}`,
    allowed: Object.keys(shape.keys).join(", "),
  }
}

/** What a shape allows, in words. */
const describe = (shape: Shape): string => {
  switch (shape.kind) {
    case "any":
      return "anything"
    case "flag":
      return "true or false"
    case "text":
      return shape.oneOf?.join(", ") ?? shape.pattern?.allowed ?? "text"
    case "number": {
      if (shape.oneOf !== undefined) return shape.oneOf.join(", ")
      const noun = shape.whole ? "a whole number" : "a number"
      return shape.min === undefined || shape.max === undefined ? noun : `${noun} from ${shape.min} to ${shape.max}`
    }
    case "list":
      return "a list"
    case "object":
      return "an object"
    case "either":
      return shape.options.map(describe).join(", or ")
  }
}
