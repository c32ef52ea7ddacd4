import type { Json } from "../../plan/action.ts"
import { declareRange } from "./declare-range.ts"
import { builtinDefaults } from "./defaults.ts"
import type { JsonObject, RangeDefaults } from "./model.ts"
import type { Key, ObjectShape, Shape } from "./shape.ts"

/**
 * The JSON Schema (2020-12) of range configurations, for editors: generated from the declaration that files are checked against.
 * `id`: where it is served. It describes a single file; names, addresses and what a server has are checked at upload.
 */
export const rangeConfigJsonSchema = (options: {
  readonly id: string
  readonly defaults?: Partial<RangeDefaults>
}): JsonObject => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: options.id,
  title: "Range configuration",
  ...ofObject(declareRange({ ...builtinDefaults, ...options.defaults })),
})

const schemaOf = (shape: Shape): JsonObject => {
  switch (shape.kind) {
    case "any":
      return {}
    case "flag":
      return { type: "boolean" }
    case "text":
      return {
        type: "string",
        ...(shape.oneOf === undefined ? {} : { enum: shape.oneOf }),
        ...(shape.pattern === undefined ? {} : { pattern: shape.pattern.expression.source }),
        ...(shape.maxLength === undefined ? {} : { maxLength: shape.maxLength }),
      }
    case "number":
      return {
        type: shape.whole ? "integer" : "number",
        ...(shape.min === undefined ? {} : { minimum: shape.min }),
        ...(shape.max === undefined ? {} : { maximum: shape.max }),
        ...(shape.oneOf === undefined ? {} : { enum: shape.oneOf }),
      }
    case "list":
      return { type: "array", items: schemaOf(shape.items) }
    case "object":
      return ofObject(shape)
    case "either":
      return { anyOf: shape.options.map(schemaOf) }
  }
}

const ofObject = (shape: ObjectShape): JsonObject => {
  const keys = Object.entries(shape.keys)
  const required = keys.filter(([, key]) => key.presence === "required").map(([name]) => name)
  return {
    type: "object",
    properties: Object.fromEntries(keys.map(([name, key]) => [name, ofKey(key)])),
    ...(required.length === 0 ? {} : { required }),
    ...(shape.open ? {} : { additionalProperties: false }),
    ...(shape.constraints.length === 0 ? {} : { allOf: shape.constraints.map(({ schema }) => schema) }),
  }
}

const ofKey = (key: Key): Json => ({
  ...schemaOf(key.shape),
  description: key.description,
  // The schema is public: a server's own default for a secret is left out.
  ...(key.fallback === undefined || (key.shape.kind === "text" && key.shape.secret === true) ? {} : { default: key.fallback }),
  ...(key.examples === undefined ? {} : { examples: key.examples }),
})
