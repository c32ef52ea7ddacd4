/** A JSON Schema, as far as our OpenAPI documents and the contract use it. */
export type Schema = Readonly<Record<string, unknown>> | boolean

const typeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)
const isType = (value: unknown, type: string): boolean => (type === "integer" ? Number.isInteger(value) : typeOf(value) === type)

const names = (type: unknown): readonly string[] => (Array.isArray(type) ? (type as readonly string[]) : [type as string])

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/u

/** All violations of the schema by the value, with their paths; references are resolved in the document. */
export const violations = (document: unknown, schema: Schema, value: unknown, at = "$"): readonly string[] => {
  if (typeof schema === "boolean") return schema ? [] : [`${at}: nothing is allowed here`]
  const found: string[] = []
  const down = (part: unknown, inner: unknown, where: string) => found.push(...violations(document, part as Schema, inner, where))
  const { $ref, type, enum: allowed, required, properties, additionalProperties, items, anyOf, oneOf, allOf } = schema
  if (typeof $ref === "string") down(pointed(document, $ref), value, at)
  if (type !== undefined && !names(type).some((name) => isType(value, name)))
    return [`${at}: ${typeOf(value)} is not ${names(type).join(" or ")}`]
  if ("const" in schema && schema["const"] !== value) found.push(`${at}: is not ${String(schema["const"])}`)
  if (Array.isArray(allowed) && !allowed.includes(value)) found.push(`${at}: ${String(value)} is none of ${allowed.join(", ")}`)
  for (const part of (allOf ?? []) as readonly Schema[]) down(part, value, at)
  for (const choice of [anyOf, oneOf])
    if (Array.isArray(choice)) {
      const each = choice.map((part) => violations(document, part as Schema, value, at))
      if (each.every((list) => list.length > 0)) found.push(...(each[0] ?? []))
    }
  if (typeof value === "string") {
    if (schema["format"] === "date-time" && !dateTime.test(value)) found.push(`${at}: ${value} is no RFC 3339 time`)
    if (typeof schema["pattern"] === "string" && !new RegExp(schema["pattern"], "u").test(value))
      found.push(`${at}: ${value} does not match`)
  }
  if (Array.isArray(value)) {
    if (items !== undefined) value.forEach((item, i) => down(items, item, `${at}[${i}]`))
    if (value.length < Number(schema["minItems"] ?? 0)) found.push(`${at}: has too few items`)
    if (value.length > Number(schema["maxItems"] ?? Infinity)) found.push(`${at}: has too many items`)
  } else if (typeof value === "object" && value !== null) {
    const known = (properties ?? {}) as Readonly<Record<string, Schema>>
    for (const name of (required ?? []) as readonly string[])
      if (!Object.hasOwn(value, name)) found.push(`${at}.${name}: is missing`)
    for (const [name, inner] of Object.entries(value)) {
      if (Object.hasOwn(known, name)) down(known[name], inner, `${at}.${name}`)
      else if (additionalProperties !== undefined) down(additionalProperties, inner, `${at}.${name}`)
    }
  }
  return found
}

const pointed = (document: unknown, reference: string): Schema => {
  let at = document
  for (const part of reference.replace(/^#\//u, "").split("/")) at = (at as Readonly<Record<string, unknown>> | undefined)?.[part]
  if (at === undefined) throw new Error(`nothing is at ${reference}`)
  return at as Schema
}
