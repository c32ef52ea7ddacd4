import type { Json } from "../plan/action.ts"
import type { Node, ScalarNode } from "../range/config/node.ts"

const octalOfLater = /^[-+]?0[oO]/u
/** Floats of later YAML versions: in YAML 1.1 a float has a dot, and a sign in its exponent, so Ansible reads these as text. */
const floatOfLater = /^[-+]?(?:[0-9][0-9_]*[eE]|[0-9_]*(?:\.[0-9_]*)?[eE][0-9])/u
const whole = /^[-+]?[0-9][0-9_]*$/u
const base60 = /^([-+]?)([0-9][0-9_]*(?::[0-5]?[0-9])+)$/u

const inBase60 = (text: string): number | undefined => {
  const [, sign, digits] = base60.exec(text) ?? []
  if (digits === undefined) return undefined
  const value = digits
    .replaceAll("_", "")
    .split(":")
    .reduce((sum, part) => sum * 60 + Number(part), 0)
  return Number.isSafeInteger(value) ? (sign === "-" ? -value : value) : undefined
}

/** The value that Ansible reads from an unquoted scalar: unlike range configurations, it uses YAML 1.1. */
const scalarOf = ({ plain, source, value }: ScalarNode): Json => {
  if (!plain) return value
  if (typeof value === "number" && (octalOfLater.test(source) || floatOfLater.test(source))) return source
  return inBase60(source) ?? value
}

/**
 * A value from a role's files as JSON. Keys become own properties whatever their names. Numbers that JSON cannot represent exactly become
 * text.
 */
export const roleValue = (node: Node): Json => {
  switch (node.kind) {
    case "scalar":
      return scalarOf(node)
    case "list":
      return node.items.map(roleValue)
    case "map":
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, roleValue(value)]))
  }
}

/** Ansible's name for the type of a value; undefined for null. */
export const roleValueType = (node: Node): string | undefined => {
  if (node.kind !== "scalar") return node.kind === "list" ? "list" : "dict"
  const value = scalarOf(node)
  if (value === null) return undefined
  if (typeof value === "boolean") return "bool"
  if (typeof value === "number") return Number.isInteger(value) && !node.source.includes(".") ? "int" : "float"
  if (!node.plain) return "str"
  return whole.test(node.source) ? "int" : /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/u.test(node.source) ? "float" : "str"
}
