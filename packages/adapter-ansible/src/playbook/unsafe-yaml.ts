import type { Json } from "@rangewright/domain"

/**
 * A value as YAML that Ansible takes literally: each string is tagged `!unsafe`, so that none is evaluated as a template, whoever wrote it.
 * JSON is YAML's flow style, with the same escapes.
 */
export const unsafeYaml = (value: Json): string => {
  if (typeof value === "string") return `!unsafe ${JSON.stringify(value)}`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(unsafeYaml).join(", ")}]`
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${unsafeYaml(item)}`)
    .join(", ")}}`
}
