import { entry, type Segment } from "./place.ts"

/** The parts of a JSON Schema that are used here. */
export interface Schema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

/** The schema and its alternatives. */
const alternatives = (schema: Schema): readonly Schema[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap(alternatives),
]

/** Every schema that applies at the end of the path. */
export const schemasAt = (root: Schema, path: readonly Segment[]): readonly Schema[] => {
  let here = alternatives(root)
  for (const segment of path) {
    here = here
      .flatMap(({ items, properties }) => {
        const next = segment === entry ? items : Object.hasOwn(properties ?? {}, segment) ? properties?.[segment] : undefined
        return next === undefined ? [] : [next]
      })
      .flatMap(alternatives)
  }
  return here
}

export const keysOf = (schemas: readonly Schema[]): readonly (readonly [key: string, schema: Schema, isRequired: boolean])[] => {
  const keys = new Map<string, readonly [string, Schema, boolean]>()
  for (const { properties = {}, required = [] } of schemas)
    for (const [key, schema] of Object.entries(properties))
      if (!keys.has(key)) keys.set(key, [key, schema, required.includes(key)])
  return [...keys.values()]
}

const textOf = (value: unknown): readonly string[] =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? [String(value)] : []

/** Suggested values: all allowed ones if the schema lists them, otherwise defaults and examples. */
export const valuesOf = (schemas: readonly Schema[]): readonly string[] => [
  ...new Set(
    schemas.flatMap((schema) => [
      ...(schema.enum ?? []).flatMap(textOf),
      ...textOf(schema.const),
      ...(schema.type === "boolean" ? ["true", "false"] : []),
      ...textOf(schema.default),
      ...(schema.examples ?? []).flatMap(textOf),
    ]),
  ),
]

/** Whether the key's value is a nested block. */
export const isBlock = (schema: Schema): boolean =>
  alternatives(schema).some(({ type }) => type === "object" || type === "array") &&
  !alternatives(schema).some(({ type }) => type === "boolean" || type === "string")

/** Facts about a value from its schema, one line each. */
export const factsOf = (schema: Schema, texts: SchemaTexts): readonly string[] => {
  const types = [...new Set(alternatives(schema).flatMap(({ type }) => (type === undefined ? [] : [type])))]
  const { minimum, maximum } = schema
  const usual = textOf(schema.default)[0]
  return [
    ...(schema.description === undefined ? [] : [schema.description]),
    ...(types.length === 0 ? [] : [texts.type(types.join(", "))]),
    ...(schema.enum === undefined ? [] : [texts.oneOf(schema.enum.flatMap(textOf).join(", "))]),
    ...(minimum === undefined && maximum === undefined ? [] : [texts.between(minimum, maximum)]),
    ...(usual === undefined || usual === "" ? [] : [texts.usual(usual)]),
  ]
}

export interface SchemaTexts {
  readonly type: (types: string) => string
  readonly oneOf: (values: string) => string
  readonly between: (least: number | undefined, most: number | undefined) => string
  readonly usual: (value: string) => string
}
