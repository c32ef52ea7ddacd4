/** Turns a parsed YAML document into values with positions: scalars resolved, aliases followed, merges and repeated keys settled. */
import { isAlias, isMap, isNode, isPair, isScalar, isSeq, type Scalar, type YAMLMap, type YAMLSeq } from "yaml"
import { type Finding, quote } from "./issue.ts"
import type { ListNode, MapEntry, MapNode, Node, Path, ScalarNode } from "./node.ts"
import { limits } from "./limits.ts"
import { hasNoJsonForm, isBase60Elsewhere, isOctalByZero, plainValue } from "./scalar.ts"

interface Reading {
  readonly errors: Array<Finding>
  readonly warnings: Array<Finding>
  /** Values by anchor, as far as the text has been read; undefined while the anchored value itself is being read. */
  readonly anchors: Map<string, Node | undefined>
}

/** The value with all errors in it; what cannot be read becomes null, or is left out when its key cannot be read. */
export const placeNodes = (
  contents: unknown,
  warnings: Array<Finding>,
): { readonly node: Node; readonly errors: ReadonlyArray<Finding> } => {
  const reading: Reading = { errors: [], warnings, anchors: new Map() }
  return { node: place(reading, contents, [], 0), errors: reading.errors }
}

const nothing = (start: number): ScalarNode => ({
  kind: "scalar",
  start,
  size: 1,
  depth: 1,
  value: null,
  source: "",
  plain: true,
})

/** Reads every value, whatever is wrong with it, so that all errors are found; `start` is used where the text has no offset. */
const place = (reading: Reading, source: unknown, path: Path, start: number): Node => {
  if (!isNode(source)) return nothing(start)
  const at = source.range?.[0] ?? start
  if (isAlias(source)) return follow(reading, source.source, path, at)
  if (isScalar(source)) return anchored(reading, source.anchor, () => placeScalar(reading, source, path, at))
  if (isMap(source)) return anchored(reading, source.anchor, () => placeMap(reading, source, path, at))
  if (isSeq(source)) return anchored(reading, source.anchor, () => placeList(reading, source, path, at))
  return nothing(at)
}

const anchored = (reading: Reading, anchor: string | undefined, read: () => Node): Node => {
  if (anchor === undefined) return read()
  reading.anchors.set(anchor, undefined)
  const node = read()
  reading.anchors.set(anchor, node)
  return node
}

const follow = (reading: Reading, anchor: string, path: Path, offset: number): Node => {
  const target = reading.anchors.get(anchor)
  if (target !== undefined) return target
  const message = reading.anchors.has(anchor)
    ? `the alias ${quote(`*${anchor}`)} is used in its own value`
    : `there is no anchor ${quote(`&${anchor}`)} before it`
  reading.errors.push({ path, offset, code: "bad-alias", message })
  return nothing(offset)
}

/** Values that only roles read: numbers there may be file modes, which are octal. */
const roleVariables: ReadonlySet<Path[number]> = new Set(["role_vars", "global_role_vars", "ludus_extensions"])
const isForRoles = (path: Path): boolean => path.some((key) => roleVariables.has(key))

const placeScalar = (reading: Reading, scalar: Scalar, path: Path, start: number): ScalarNode => {
  const source = scalar.source ?? (typeof scalar.value === "string" ? scalar.value : "")
  const plain = scalar.type === "PLAIN" && scalar.tag === undefined
  const value = plain ? plainValue(source) : taggedValue(scalar.tag, source)
  const refuse = (code: string, message: string, allowed: string): void =>
    void reading.errors.push({ path, offset: start, code, message, allowed })
  if (plain && hasNoJsonForm(source))
    refuse("not-a-number", `${quote(source)} is not a usable number`, "a finite number, or quoted text")
  if (typeof value === "string" && !plain && (value.includes("\0") || !value.isWellFormed()))
    refuse("forbidden-character", "the text escapes a NUL character or an unpaired surrogate", "whole, printable characters")
  if (plain && isBase60Elsewhere(source))
    reading.warnings.push({
      path,
      offset: start,
      code: "base-60",
      message: "unquoted digits with a colon are text here, but a number in base 60 to other YAML readers",
      allowed: 'quoted text, as in "20:25"',
      severity: "warning",
    })
  if (plain && isOctalByZero(source) && !isForRoles(path))
    reading.warnings.push({
      path,
      offset: start,
      code: "octal",
      message: `${source} begins with a zero, so it is read as octal, as ${String(value)}`,
      allowed: "the number without the zero",
      severity: "warning",
    })
  return { kind: "scalar", start, size: 1, depth: 1, value, source, plain }
}

const numericTags: ReadonlySet<string> = new Set(["int", "float", "bool", "null"].map((name) => `tag:yaml.org,2002:${name}`))
/** Tags that name a scalar type are honored; with any other tag, the value is text. */
const taggedValue = (tag: string | undefined, source: string): ScalarNode["value"] =>
  tag !== undefined && numericTags.has(tag) ? plainValue(source) : source

const collection = (reading: Reading, path: Path, start: number, children: Iterable<Node>): { size: number; depth: number } => {
  let size = 1
  let depth = 1
  for (const child of children) {
    size += child.size
    depth = Math.max(depth, child.depth + 1)
  }
  // Once reported, the value counts as small, so that one alias bomb is one error.
  if (size > limits.values || depth > limits.depth) {
    const [what, most] = size > limits.values ? ["values", limits.values] : ["levels", limits.depth]
    reading.errors.push({
      path,
      offset: start,
      code: "too-large",
      message: `its aliases expand to too many ${what}`,
      allowed: `at most ${most}`,
    })
    return { size: 1, depth: 1 }
  }
  return { size, depth }
}

const placeList = (reading: Reading, list: YAMLSeq, path: Path, start: number): ListNode => {
  if (list.items.some((item) => isPair(item)))
    reading.errors.push({
      path,
      offset: start,
      code: "unsupported-tag",
      message: "ordered maps and pairs are not supported",
      allowed: "a list",
    })
  const items = list.items.map((item, index) => place(reading, item, [...path, index], start))
  return { kind: "list", start, items, ...collection(reading, path, start, items) }
}

const placeMap = (reading: Reading, map: YAMLMap, path: Path, start: number): MapNode => {
  const own = new Map<string, MapEntry>()
  const merged = new Map<string, MapEntry>()
  for (const pair of map.items) {
    const key = placeKey(reading, pair.key, path, start)
    if (key === undefined) continue
    const value = place(reading, pair.value, key.merge ? path : [...path, key.name], key.start)
    if (key.merge) mergeInto(reading, merged, value, path)
    else {
      if (own.has(key.name)) reading.warnings.push(repeated([...path, key.name], key.start, key.name))
      own.set(key.name, { keyStart: key.start, value })
    }
  }
  const entries = merged.size === 0 ? own : new Map([...merged, ...own])
  return {
    kind: "map",
    start,
    entries,
    ...collection(
      reading,
      path,
      start,
      Array.from(entries.values(), (entry) => entry.value),
    ),
  }
}

interface PlacedKey {
  readonly name: string
  readonly start: number
  readonly merge: boolean
}
const placeKey = (reading: Reading, source: unknown, path: Path, around: number): PlacedKey | undefined => {
  const start = isNode(source) ? (source.range?.[0] ?? around) : around
  const key = isAlias(source)
    ? place(reading, source, path, start)
    : isScalar(source)
      ? placeScalar(reading, source, path, start)
      : undefined
  const refuse = (code: string, message: string, allowed: string): undefined => {
    reading.errors.push({ path, offset: start, code, message, allowed })
    return undefined
  }
  if (key === undefined || key.kind !== "scalar")
    return refuse("bad-key", "a key is an object or a list", 'text; quote what begins with {{, as in "{{ range_id }}"')
  if (key.value === null && key.plain) return refuse("bad-key", "a key is missing or null", "text")
  // As an object's prototype it could change what other code sees.
  if (key.source === "__proto__") return refuse("forbidden-key", "the key `__proto__` is refused everywhere", "another name")
  if (isScalar(source) && source.anchor !== undefined) reading.anchors.set(source.anchor, key)
  return { name: key.source, start, merge: key.plain && key.source === "<<" }
}

/** The map's own keys override those that it merges in; of several merged maps, the first wins. */
const mergeInto = (reading: Reading, merged: Map<string, MapEntry>, value: Node, path: Path): void => {
  const maps = value.kind === "list" ? value.items : [value]
  for (const map of maps) {
    if (map.kind !== "map") {
      reading.errors.push({
        path,
        offset: value.start,
        code: "bad-merge",
        message: "`<<` merges something that is not an object",
        allowed: "an object, or a list of objects",
      })
      return
    }
    for (const [name, entry] of map.entries) if (!merged.has(name)) merged.set(name, entry)
  }
}

const repeated = (path: Path, offset: number, name: string): Finding => ({
  path,
  offset,
  code: "repeated-key",
  message: `the key ${quote(name)} is repeated; the earlier value is ignored`,
  allowed: "each key once",
  severity: "warning",
})
