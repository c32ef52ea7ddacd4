/** A configuration file as read: values with their positions in the text. */
import type { Json } from "../../plan/action.ts"

export type Node = ScalarNode | ListNode | MapNode
interface Placed {
  /** Offset of the first character of the value. */
  readonly start: number
  /** How many values this one contains, itself included and aliases expanded. */
  readonly size: number
  /** Levels of nesting: 1 for a scalar. */
  readonly depth: number
}
export interface ScalarNode extends Placed {
  readonly kind: "scalar"
  readonly value: string | number | boolean | null
  /** As written, without quotes; differs from the value where the reader converted it. */
  readonly source: string
  /** Unquoted and without a tag: the reader decides what it means. */
  readonly plain: boolean
}
export interface ListNode extends Placed {
  readonly kind: "list"
  readonly items: ReadonlyArray<Node>
}
export interface MapNode extends Placed {
  readonly kind: "map"
  /** In the order of the file. */
  readonly entries: ReadonlyMap<string, MapEntry>
}
export interface MapEntry {
  readonly keyStart: number
  readonly value: Node
}

export type Path = ReadonlyArray<string | number>

/** The child that a step of a path leads to. */
export const childOf = (node: Node, step: string | number): Node | undefined => {
  if (node.kind === "map") return node.entries.get(String(step))?.value
  if (node.kind === "list" && typeof step === "number") return node.items[step]
  return undefined
}

/** Offset of the value at a path, or of the nearest enclosing value that is in the file. */
export const offsetOf = (root: Node, path: Path): number => {
  let node = root
  for (const step of path) {
    const next = childOf(node, step)
    if (next === undefined) break
    node = next
  }
  return node.start
}

/** The value as plain JSON. Keys are own properties whatever their names. */
export const toJson = (node: Node): Json => {
  switch (node.kind) {
    case "scalar":
      return node.value
    case "list":
      return node.items.map(toJson)
    case "map":
      return Object.fromEntries([...node.entries].map(([key, entry]) => [key, toJson(entry.value)]))
  }
}

export const emptyMap: MapNode = { kind: "map", start: 0, size: 1, depth: 1, entries: new Map() }
