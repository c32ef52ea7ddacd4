import type { WireSchema } from "@rangewright/application"
import * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"

/** A JSON Schema in the dialect of OpenAPI 3.1. */
export type SchemaObject = Readonly<Record<string, unknown>>

/** Named schemas, collected while a document is generated. */
export interface NamedSchemas {
  readonly all: Readonly<Record<string, SchemaObject>>
  /**
   * Describes the schema as it is on the wire; parts with an identifier become references. Throws when two different schemas share a name.
   */
  readonly describe: (schema: WireSchema) => SchemaObject
}

export const namedSchemas = (): NamedSchemas => {
  const all: Record<string, SchemaObject> = {}
  return {
    all,
    describe: (schema) => {
      const { dialect, schema: top, definitions } = Schema.toJsonSchemaDocument(schema)
      const { schemas, definitions: named } = JsonSchema.toMultiDocumentOpenApi3_1({ dialect, schemas: [top], definitions })
      for (const [name, definition] of Object.entries(named)) {
        if (all[name] !== undefined && JSON.stringify(all[name]) !== JSON.stringify(definition))
          throw new Error(`Two schemas are named ${name}`)
        all[name] = definition
      }
      return schemas[0]
    },
  }
}
